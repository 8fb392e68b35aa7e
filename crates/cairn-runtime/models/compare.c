/* memcmp, strcmp and their kin: the difference of the first two bytes that differ, as glibc has it on x86-64. */
#include "models.h"

/* Whether an expression over `n` bytes is worth its size. */
static bool cairn_within_window(const void *a, const void *b, size_t n) {
  if (n <= CAIRN_BOTH_WINDOW) return true;
  return n <= CAIRN_WINDOW && !(cairn_is_symbolic(a, n) && cairn_is_symbolic(b, n));
}

int cairn_memcmp(const void *left, const void *right, size_t n) {
  left = cairn_settled(left);
  right = cairn_settled(right);
  const unsigned char *a = left, *b = right;
  size_t count = cairn_concrete(n);
  if (!cairn_is_symbolic(a, count) && !cairn_is_symbolic(b, count) && !SYMBOLIC(n)) return memcmp(a, b, n);
  if (!cairn_within_window(a, b, count)) {
    for (size_t i = 0; i < n; i++) {
      if (a[i] != b[i]) return a[i] - b[i];
    }
    return 0;
  }

  cairn_hold(n <= count);
  int result = 0;
  for (size_t i = count; i-- > 0;) {
    int difference = a[i] - b[i];
    result = (i < n) & (a[i] != b[i]) ? difference : result;
  }
  return result;
}

static int cairn_same(int c) {
  return c;
}

/* The length of the shorter string, found without looking at much more of the longer one. */
CAIRN_CONCRETE static size_t cairn_shorter(const char *a, const char *b, size_t most) {
  for (size_t n = 64;; n = n < most / 8 ? n * 8 : most) {
    size_t bound = n < most ? n : most;
    size_t of_a = strnlen(a, bound), of_b = strnlen(b, bound);
    size_t shorter = of_a < of_b ? of_a : of_b;
    if (shorter < bound || bound == most) return shorter;
  }
}

/* Compares at most `n` bytes of two strings after `fold`; `real` does where nothing is symbolic. */
static inline __attribute__((always_inline)) int cairn_compare(const char *left, const char *right, size_t n,
                                                               int (*fold)(int), int (*real)(const char *, const char *,
                                                                                             size_t)) {
  left = cairn_settled(left);
  right = cairn_settled(right);
  const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
  size_t bound = cairn_concrete(n);
  size_t length = cairn_shorter(left, right, bound);
  size_t count = length < bound ? length + 1 : bound;
  if (!cairn_is_symbolic(a, count) && !cairn_is_symbolic(b, count) && !SYMBOLIC(n)) return real(left, right, n);
  if (!cairn_within_window(a, b, count)) {
    for (size_t i = 0; i < n; i++) {
      int difference = fold(a[i]) - fold(b[i]);
      if (difference != 0 || a[i] == 0) return difference;
    }
    return 0;
  }

  cairn_hold(n <= bound);
  size_t most = bound < CAIRN_WINDOW ? bound : CAIRN_WINDOW;
  size_t of_left = cairn_window(left, most), of_right = cairn_window(right, most);
  size_t extent = of_left < of_right ? of_left : of_right;
  /* Where an argument ends first, it has to be longer to be like the other string. */
  size_t longer = of_left < of_right ? of_right : of_left;
  unsigned char room[CAIRN_WINDOW + 1];
  if (extent < longer && cairn_grows((of_left < of_right ? a : b) + extent - 1)) {
    if (of_left < of_right) a = cairn_grown(room, a, extent, longer);
    else b = cairn_grown(room, b, extent, longer);
    extent = longer;
  }
  bool cut = extent == CAIRN_WINDOW && extent < bound;
  if (!cairn_within_window(a, b, extent)) {
    extent = count;
    cut = true;
  }
  /* Where the window ends before the strings, they must differ inside of it. Where both end and could be longer, it is
   * unknown what would follow: that they go on alike is the guess that leads to longer ones. */
  int result = cut ? INT_MIN : 0;
  for (size_t i = extent; i-- > 0;) {
    int of_a = fold(a[i]), of_b = fold(b[i]);
    int difference = of_a - of_b;
    int rest = (a[i] == 0) & (b[i] == 0) ? 0 : result;
    int here = of_a != of_b ? difference : rest;
    result = i < n ? here : 0;
  }
  if (cut) cairn_hold(result != INT_MIN);
  return result;
}

static int cairn_real_strcmp(const char *a, const char *b, size_t n) {
  (void)n;
  return strcmp(a, b);
}

static int cairn_real_strcasecmp(const char *a, const char *b, size_t n) {
  (void)n;
  return strcasecmp(a, b);
}

int cairn_strcmp(const char *a, const char *b) {
  return cairn_compare(a, b, SIZE_MAX, cairn_same, cairn_real_strcmp);
}

int cairn_strncmp(const char *a, const char *b, size_t n) {
  return cairn_compare(a, b, n, cairn_same, strncmp);
}

int cairn_strcasecmp(const char *a, const char *b) {
  if (!cairn_ascii_locale()) return strcasecmp(a, b);
  return cairn_compare(a, b, SIZE_MAX, cairn_ascii_lower, cairn_real_strcasecmp);
}

int cairn_strncasecmp(const char *a, const char *b, size_t n) {
  if (!cairn_ascii_locale()) return strncasecmp(a, b, n);
  return cairn_compare(a, b, n, cairn_ascii_lower, strncasecmp);
}

int cairn_strcasecmp_l(const char *a, const char *b, locale_t locale) {
  if (!cairn_ascii_locale() || !cairn_ascii_locale_l(locale)) return strcasecmp_l(a, b, locale);
  return cairn_strcasecmp(a, b);
}

int cairn_strncasecmp_l(const char *a, const char *b, size_t n, locale_t locale) {
  if (!cairn_ascii_locale() || !cairn_ascii_locale_l(locale)) return strncasecmp_l(a, b, n, locale);
  return cairn_strncasecmp(a, b, n);
}

int cairn_strcoll(const char *a, const char *b) {
  return cairn_byte_collation() ? cairn_strcmp(a, b) : strcoll(a, b);
}

/* The size of a difference of wide strings depends on the processor, so this is a path to what the real function
 * says. */
int cairn_wcscmp(const wchar_t *a, const wchar_t *b) {
  a = cairn_settled(a);
  b = cairn_settled(b);
  int result = wcscmp(a, b);
  for (;; a++, b++) {
    if (*a != *b) break;
    if (*a == 0) return result;
  }
  cairn_hold((*a < *b) == (result < 0));
  return result;
}
