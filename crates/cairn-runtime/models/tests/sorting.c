/* qsort and bsearch against glibc: the order, and every single comparison. */
#include "declarations.h"
#include "expect.h"

enum { MOST = 300, LARGEST = 48 };

struct comparison {
  unsigned left, right;
};

static struct comparison log_want[4 * MOST * 10], log_got[4 * MOST * 10];
static size_t n_logged;
static struct comparison *log_now;
static size_t n_elements, element_size;

static void describe(void) {
  fprintf(stderr, "  with %zu elements of %zu bytes\n", n_elements, element_size);
}

/* An element is a key in its first byte, for the order, and a number in the second and third, to know it by. */
static unsigned number_of(const void *element) {
  const unsigned char *bytes = element;
  return bytes[1] | (unsigned)bytes[2] << 8;
}

static int compare_keys(const void *left, const void *right) {
  log_now[n_logged++] = (struct comparison){number_of(left), number_of(right)};
  return *(const unsigned char *)left - *(const unsigned char *)right;
}

static int compare_keys_with(const void *left, const void *right, void *argument) {
  if (argument != &n_logged) abort();
  return compare_keys(left, right);
}

static unsigned char want[MOST * LARGEST], got[MOST * LARGEST];

static void compare_sorts(bool with_argument) {
  for (size_t i = 0; i < n_elements; i++) {
    unsigned char *element = want + i * element_size;
    for (size_t k = 0; k < element_size; k++) element[k] = (unsigned char)random_bits();
    element[0] %= 1 + random_below(20);
    element[1] = (unsigned char)i;
    element[2] = (unsigned char)(i >> 8);
  }
  memcpy(got, want, sizeof want);

  n_logged = 0;
  log_now = log_want;
  if (with_argument) {
    qsort_r(want, n_elements, element_size, compare_keys_with, &n_logged);
  } else {
    qsort(want, n_elements, element_size, compare_keys);
  }
  size_t n_want = n_logged;
  n_logged = 0;
  log_now = log_got;
  errno = 5;
  if (with_argument) {
    cairn_qsort_r(got, n_elements, element_size, compare_keys_with, &n_logged);
  } else {
    cairn_qsort(got, n_elements, element_size, compare_keys);
  }
  EXPECT("qsort's number of comparisons", n_want, n_logged);
  EXPECT_BYTES("qsort's comparisons", log_want, log_got, n_want * sizeof *log_want);
  EXPECT_BYTES("qsort", want, got, sizeof want);
  EXPECT("qsort's errno", 5, errno);
}

static void compare_searches(void) {
  for (int key = 0; key < 22; key++) {
    unsigned char wanted[3] = {(unsigned char)key, 0xff, 0xff};
    n_logged = 0;
    log_now = log_want;
    void *found = bsearch(wanted, want, n_elements, element_size, compare_keys);
    size_t n_want = n_logged;
    n_logged = 0;
    log_now = log_got;
    void *model = cairn_bsearch(wanted, want, n_elements, element_size, compare_keys);
    EXPECT("bsearch", (uintptr_t)found, (uintptr_t)model);
    EXPECT("bsearch's number of comparisons", n_want, n_logged);
    EXPECT_BYTES("bsearch's comparisons", log_want, log_got, n_want * sizeof *log_want);
  }
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 100;
  for (long round = 0; round < rounds; round++) {
    n_elements = random_below(4) ? random_below(12) : random_below(MOST + 1);
    element_size = random_below(2) ? 3 + random_below(6) : 3 + random_below(LARGEST - 2);
    compare_sorts(random_below(2));
    compare_searches();
  }
  return finish();
}
