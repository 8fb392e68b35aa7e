/* The models of string.h against glibc. */
#include "declarations.h"
#include "expect.h"

static char *a, *b;
static size_t n_a, n_b, bound;
static int character;

static void describe(void) {
  show("a", a, n_a + 1);
  show("b", b, n_b + 1);
  fprintf(stderr, "  n = %zu, c = %d\n", bound, character);
}

/* Mostly short ones, sometimes longer than a window. */
static size_t random_length(void) {
  size_t kind = random_below(64);
  return kind == 0 ? random_below(600) : kind < 8 ? random_below(80) : random_below(10);
}

static long offset(const void *base, const void *p) {
  return p ? (const char *)p - (const char *)base : -1;
}

static void compare_lengths(void) {
  EXPECT("strlen", strlen(a), cairn_strlen(a));
  EXPECT("strnlen", strnlen(a, bound), cairn_strnlen(a, bound));
}

static void compare_orders(void) {
  size_t n = n_a < n_b ? n_a : n_b;
  EXPECT("memcmp", memcmp(a, b, n), cairn_memcmp(a, b, n));
  EXPECT("strcmp", strcmp(a, b), cairn_strcmp(a, b));
  EXPECT("strncmp", strncmp(a, b, bound), cairn_strncmp(a, b, bound));
  EXPECT("strcasecmp", strcasecmp(a, b), cairn_strcasecmp(a, b));
  EXPECT("strncasecmp", strncasecmp(a, b, bound), cairn_strncasecmp(a, b, bound));
  EXPECT("strcoll", strcoll(a, b), cairn_strcoll(a, b));
}

static void compare_finds(void) {
  EXPECT("strchr", offset(a, strchr(a, character)), offset(a, cairn_strchr(a, character)));
  EXPECT("strrchr", offset(a, strrchr(a, character)), offset(a, cairn_strrchr(a, character)));
  EXPECT("strchrnul", offset(a, strchrnul(a, character)), offset(a, cairn_strchrnul(a, character)));
  size_t n = random_below(n_a + 2);
  EXPECT("memchr", offset(a, memchr(a, character, n)), offset(a, cairn_memchr(a, character, n)));
  EXPECT("memchr", offset(a, memchr(a, 0, SIZE_MAX)), offset(a, cairn_memchr(a, 0, SIZE_MAX)));
  EXPECT("memrchr", offset(a, memrchr(a, character, n)), offset(a, cairn_memrchr(a, character, n)));
  EXPECT("rawmemchr", offset(a, rawmemchr(a, 0)), offset(a, cairn_rawmemchr(a, 0)));
  EXPECT("strstr", offset(a, strstr(a, b)), offset(a, cairn_strstr(a, b)));
  EXPECT("strcasestr", offset(a, strcasestr(a, b)), offset(a, cairn_strcasestr(a, b)));
  EXPECT("memmem", offset(a, memmem(a, n_a, b, n_b)), offset(a, cairn_memmem(a, n_a, b, n_b)));
  EXPECT("strspn", strspn(a, b), cairn_strspn(a, b));
  EXPECT("strcspn", strcspn(a, b), cairn_strcspn(a, b));
  EXPECT("strpbrk", offset(a, strpbrk(a, b)), offset(a, cairn_strpbrk(a, b)));
}

/* Memory may hold zeros. */
static void compare_memory(void) {
  size_t n = n_a < n_b ? n_a : n_b;
  if (n == 0) return;
  char of_a = a[n / 2], of_b = b[n / 2];
  a[n / 2] = 0;
  if (random_below(2)) b[n / 2] = 0;
  EXPECT("memcmp", memcmp(a, b, n), cairn_memcmp(a, b, n));
  EXPECT("memchr", offset(a, memchr(a, 'a', n_a)), offset(a, cairn_memchr(a, 'a', n_a)));
  EXPECT("memrchr", offset(a, memrchr(a, 'a', n_a)), offset(a, cairn_memrchr(a, 'a', n_a)));
  size_t m = random_below(n + 1);
  EXPECT("memmem", offset(a, memmem(a, n_a, b, m)), offset(a, cairn_memmem(a, n_a, b, m)));
  EXPECT("memmem", offset(a, memmem(a, n_a, b + n - m, m)), offset(a, cairn_memmem(a, n_a, b + n - m, m)));
  a[n / 2] = of_a;
  b[n / 2] = of_b;
}

/* Two places to write to. */
enum { ROOM = 2048 };
static char want[ROOM], got[ROOM];

static void fill(void) {
  memset(want, 'x', ROOM);
  memset(want, 'y', random_below(20));
  want[random_below(20)] = 0;
  want[20] = 0;
  memcpy(got, want, ROOM);
}

#define COPY(name, ...)                                                                                                \
  do {                                                                                                                 \
    fill();                                                                                                            \
    EXPECT(#name, offset(want, name(want, a, ##__VA_ARGS__)), offset(got, cairn_##name(got, a, ##__VA_ARGS__)));       \
    EXPECT_BYTES(#name, want, got, ROOM);                                                                              \
  } while (0)

#define CHECKED(name, ...)                                                                                             \
  do {                                                                                                                 \
    fill();                                                                                                            \
    EXPECT(#name "_chk", offset(want, name(want, a, ##__VA_ARGS__)),                                                   \
           offset(got, cairn_##name##_chk(got, a, ##__VA_ARGS__, ROOM)));                                              \
    EXPECT_BYTES(#name "_chk", want, got, ROOM);                                                                       \
  } while (0)

static void compare_copies(void) {
  size_t n = random_below(n_a + 1), most = bound < 1000 ? bound : 1000;
  COPY(strcpy);
  COPY(stpcpy);
  COPY(strncpy, most);
  COPY(stpncpy, most);
  COPY(strcat);
  COPY(strncat, bound);
  COPY(mempcpy, n);
  COPY(memccpy, character, n);
  CHECKED(strcpy);
  CHECKED(stpcpy);
  CHECKED(strncpy, most);
  CHECKED(stpncpy, most);
  CHECKED(strcat);
  CHECKED(strncat, bound);
  CHECKED(mempcpy, n);

  char *copy = cairn_strdup(a);
  EXPECT_BYTES("strdup", a, copy, n_a + 1);
  free(copy);
  copy = strndup(a, bound);
  char *model = cairn_strndup(a, bound);
  EXPECT_BYTES("strndup", copy, model, strlen(copy) + 1);
  free(copy);
  free(model);
}

static void compare_tokens(void) {
  if (n_a >= ROOM) return;
  char *saved_want = NULL, *saved_got = NULL, *token;
  strcpy(want, a);
  strcpy(got, a);
  bool first = true;
  do {
    token = strtok_r(first ? want : NULL, b, &saved_want);
    char *model = cairn_strtok_r(first ? got : NULL, b, &saved_got);
    EXPECT("strtok_r", offset(want, token), offset(got, model));
    EXPECT("strtok_r's place", offset(want, saved_want), offset(got, saved_got));
    first = false;
  } while (token);
  EXPECT_BYTES("strtok_r", want, got, n_a + 1);

  strcpy(want, a);
  strcpy(got, a);
  first = true;
  do {
    token = strtok(first ? want : NULL, b);
    EXPECT("strtok", offset(want, token), offset(got, cairn_strtok(first ? got : NULL, b)));
    first = false;
  } while (token);
  EXPECT_BYTES("strtok", want, got, n_a + 1);

  strcpy(want, a);
  strcpy(got, a);
  char *at_want = want, *at_got = got;
  do {
    token = strsep(&at_want, b);
    EXPECT("strsep", offset(want, token), offset(got, cairn_strsep(&at_got, b)));
    EXPECT("strsep's place", offset(want, at_want), offset(got, at_got));
  } while (token);
  EXPECT_BYTES("strsep", want, got, n_a + 1);
}

/* Wide strings get the labels of the arena for a moment. */
static void compare_wide(void) {
  static wchar_t x[700], y[700];
  for (size_t i = 0; i <= n_a; i++) x[i] = a[i] ? (wchar_t)((unsigned char)a[i] * 0x01000101u) : 0;
  for (size_t i = 0; i <= n_b; i++) y[i] = b[i] ? (wchar_t)((unsigned char)b[i] * 0x01000101u) : 0;
  label(0, (char *)x, random_below(2) ? sizeof x : 0);
  label(1, (char *)y, random_below(2) ? sizeof y : 0);
  EXPECT("wcslen", wcslen(x), cairn_wcslen(x));
  EXPECT("wcscmp", wcscmp(x, y), cairn_wcscmp(x, y));
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  make_arenas();
  for (long round = 0; round < rounds; round++) {
    static const char *const alphabets[] = {"ab", "aAbB", "a,; ", "Z@[`{a\x80\xff"};
    const char *alphabet = alphabets[random_below(4)];
    n_a = random_length();
    n_b = random_below(4) ? random_below(5) : random_length();
    if (random_below(8) == 0) n_b = n_a;
    a = random_string(0, n_a, alphabet, strlen(alphabet));
    b = random_string(1, n_b, alphabet, strlen(alphabet));
    /* Long common beginnings are rare by chance. */
    if (random_below(3) == 0) memcpy(b, a, n_a < n_b ? n_a : n_b);
    bound = random_below(5) ? random_below(n_a + 3) : SIZE_MAX;
    character = random_below(16) ? alphabet[random_below(strlen(alphabet))] : 0;
    if (random_below(4) == 0) character += 256;
    values_are_labelled = random_below(2);
    compare_lengths();
    compare_orders();
    compare_finds();
    compare_memory();
    compare_copies();
    compare_tokens();
    compare_wide();
  }
  return finish();
}
