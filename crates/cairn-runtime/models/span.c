/* strspn, strcspn, strpbrk: how long characters stay in a set, or out of it. */
#include "models.h"

/* Whether a byte is one of `n`. */
static bool cairn_is_member(char c, const char *set, size_t n) {
  bool member = false;
  for (size_t i = 0; i < n; i++) member |= c == set[i];
  return member;
}

/* How many bytes an expression over a span should cover; 0 if it should be a path. A span that is `length` long in
 * this run could be longer in another, up to the end of the string. `cut` tells that the string goes on after the
 * window. */
static size_t cairn_span_window(const char *s, size_t length, size_t n_set, bool *cut) {
  size_t most = n_set ? CAIRN_PAIRS / n_set : CAIRN_WINDOW;
  if (most > CAIRN_WINDOW) most = CAIRN_WINDOW;
  if (length >= most) return 0;
  size_t extent = cairn_window(s, most);
  *cut = extent == most;
  return extent;
}

/* How many bytes of `s` precede the first whose membership is not `inside`. */
static inline __attribute__((always_inline)) size_t cairn_span(const char *s, const char *set, bool inside) {
  s = cairn_settled(s);
  set = cairn_settled(set);
  size_t length = inside ? strspn(s, set) : strcspn(s, set);
  if (!cairn_is_symbolic(s, length + 1) && !cairn_is_symbolic(set, strlen(set) + 1)) return length;

  size_t n_set = cairn_pinned_length(set);
  bool cut;
  size_t window = cairn_span_window(s, length, n_set, &cut);
  if (window == 0) {
    /* The end is no member of any set, and a span outside stops there too. */
    for (length = 0; s[length] != 0 && cairn_is_member(s[length], set, n_set) == inside; length++) {}
    return length;
  }
  length = window;
  for (size_t i = window; i-- > 0;) {
    bool stops = (s[i] == 0) | (cairn_is_member(s[i], set, n_set) != inside);
    length = stops ? i : length;
  }
  if (cut) cairn_hold(length != window);
  return length;
}

size_t cairn_strspn(const char *s, const char *set) {
  return cairn_span(s, set, true);
}

size_t cairn_strcspn(const char *s, const char *set) {
  return cairn_span(s, set, false);
}

char *cairn_strpbrk(const char *s, const char *set) {
  s = cairn_settled(s);
  set = cairn_settled(set);
  size_t length = strcspn(s, set);
  if (!cairn_is_symbolic(s, length + 1) && !cairn_is_symbolic(set, strlen(set) + 1)) return strpbrk(s, set);

  size_t n_set = cairn_pinned_length(set);
  bool cut;
  size_t window = cairn_span_window(s, length, n_set, &cut);
  if (window == 0) {
    for (; *s != 0; s++) {
      if (cairn_is_member(*s, set, n_set)) return (char *)s;
    }
    return NULL;
  }
  char *beyond = cut ? (char *)s + window : NULL;
  char *result = beyond;
  for (size_t i = window; i-- > 0;) {
    char *rest = s[i] == 0 ? NULL : result;
    result = cairn_is_member(s[i], set, n_set) ? (char *)s + i : rest;
  }
  if (cut) cairn_hold(result != beyond);
  return result;
}
