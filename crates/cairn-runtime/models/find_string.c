/* strstr, strcasestr, memmem: the address of a string in another. */
#include "models.h"

/* Looks for `needle` in `n` bytes, which end early at a zero if `ends` is set, after `fold`. The result is `beyond` if
 * it is not there. */
static inline __attribute__((always_inline)) char *cairn_find(const char *hay, size_t n, const char *needle, size_t m,
                                                              bool ends, int (*fold)(int), char *beyond) {
  char *result = beyond;
  for (size_t i = n; i-- > 0;) {
    bool matches = m <= n - i;
    if (matches) {
      for (size_t j = 0; j < m; j++) {
        matches &= fold((unsigned char)hay[i + j]) == fold((unsigned char)needle[j]);
      }
    }
    char *rest = ends & (hay[i] == 0) ? NULL : result;
    result = matches ? (char *)hay + i : rest;
  }
  return result;
}

/* Whether `needle` is at a place, as a path. No byte of a string after its end is looked at. */
static inline __attribute__((always_inline)) bool cairn_is_at(const char *place, const char *needle, size_t m,
                                                              int (*fold)(int)) {
  for (size_t j = 0; j < m; j++) {
    if (fold((unsigned char)place[j]) != fold((unsigned char)needle[j])) return false;
  }
  return true;
}

static inline __attribute__((always_inline)) char *cairn_find_in_string(const char *hay, const char *needle,
                                                                        int (*fold)(int),
                                                                        char *(*real)(const char *, const char *)) {
  hay = cairn_settled(hay);
  needle = cairn_settled(needle);
  size_t n = strlen(hay), m = strlen(needle);
  if (!cairn_is_symbolic(hay, n + 1) && !cairn_is_symbolic(needle, m + 1)) return real(hay, needle);
  m = cairn_pinned_length(needle);
  if (m == 0) return (char *)hay;
  if (n >= CAIRN_WINDOW || (n + 1) * m > CAIRN_PAIRS) {
    for (;; hay++) {
      if (cairn_is_at(hay, needle, m, fold)) return (char *)hay;
      if (*hay == 0) return NULL;
    }
  }

  size_t most = CAIRN_PAIRS / m;
  if (most > CAIRN_WINDOW) most = CAIRN_WINDOW;
  size_t extent = cairn_window(hay, most);
  bool cut = extent == most;
  char *beyond = cut ? (char *)hay + extent : NULL;
  char *result = cairn_find(hay, extent, needle, m, true, fold, beyond);
  if (cut) cairn_hold(result != beyond);
  return result;
}

static char *cairn_real_strstr(const char *hay, const char *needle) {
  return strstr(hay, needle);
}

static char *cairn_real_strcasestr(const char *hay, const char *needle) {
  return strcasestr(hay, needle);
}

char *cairn_strstr(const char *hay, const char *needle) {
  return cairn_find_in_string(hay, needle, cairn_same, cairn_real_strstr);
}

char *cairn_strcasestr(const char *hay, const char *needle) {
  if (!cairn_ascii_locale()) return strcasestr(hay, needle);
  return cairn_find_in_string(hay, needle, cairn_ascii_lower, cairn_real_strcasestr);
}

void *cairn_memmem(const void *hay, size_t n, const void *needle, size_t m) {
  hay = cairn_settled(hay);
  needle = cairn_settled(needle);
  size_t n_hay = cairn_concrete(n), n_needle = cairn_concrete(m);
  bool sized = SYMBOLIC(n) || SYMBOLIC(m);
  bool filled = cairn_is_symbolic(hay, n_hay) || cairn_is_symbolic(needle, n_needle);
  if (!sized && !filled) return memmem(hay, n, needle, m);
  if (sized) cairn_hold((n == n_hay) & (m == n_needle));
  if (n_needle == 0) return (void *)hay;
  if (n_needle > n_hay) return NULL;
  if (n_hay > CAIRN_WINDOW || n_hay * n_needle > CAIRN_PAIRS) {
    for (size_t i = 0; i <= n_hay - n_needle; i++) {
      char *place = (char *)hay + i;
      if (cairn_is_at(place, needle, n_needle, cairn_same)) return place;
    }
    return NULL;
  }
  return cairn_find(hay, n_hay, needle, n_needle, false, cairn_same, NULL);
}
