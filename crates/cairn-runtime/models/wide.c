/* Characters of more than a byte, as far as they are ASCII; the real functions answer for all others.
 *
 * One condition separates the two. In locales whose ASCII is not that of the C locale, all is left to the real
 * functions. */
#include "models.h"
#include <uchar.h>
#include <ctype.h>
#include <wctype.h>

/* States of conversions whose caller has none. glibc has one for each function too. */
static mbstate_t cairn_mbrtowc_state, cairn_mbrlen_state, cairn_mbtowc_state;

/* Whether the character at `s` is ASCII, which leaves a condition. A conversion must not be in the middle of
 * another. */
static bool cairn_is_ascii_at(const char *s, size_t n, const mbstate_t *state) {
  if (s == NULL || n == 0 || !cairn_ascii_wide_locale() || (state && !mbsinit(state))) return false;
  return (unsigned char)*s < 0x80;
}

size_t cairn_mbrtowc(wchar_t *wide, const char *s, size_t n, mbstate_t *state) {
  s = cairn_settled(s);
  if (state == NULL) state = &cairn_mbrtowc_state;
  if (!cairn_is_ascii_at(s, n, state)) return mbrtowc(wide, s, n, state);
  if (wide) *wide = *s;
  return *s != 0;
}

size_t cairn_mbrlen(const char *s, size_t n, mbstate_t *state) {
  s = cairn_settled(s);
  if (state == NULL) state = &cairn_mbrlen_state;
  if (!cairn_is_ascii_at(s, n, state)) return mbrlen(s, n, state);
  return *s != 0;
}

int cairn_mbtowc(wchar_t *wide, const char *s, size_t n) {
  s = cairn_settled(s);
  if (s == NULL) {
    cairn_mbtowc_state = (mbstate_t){0};
    return mbtowc(wide, NULL, 0);
  }
  if (cairn_is_ascii_at(s, n, &cairn_mbtowc_state) || *s == 0) {
    if (wide) *wide = *s;
    return *s != 0;
  }
  ssize_t length = (ssize_t)mbrtowc(wide, s, n, &cairn_mbtowc_state);
  return length < 0 ? -1 : (int)length;
}

int cairn_mblen(const char *s, size_t n) {
  s = cairn_settled(s);
  if (!cairn_is_ascii_at(s, n, NULL)) return mblen(s, n);
  return *s != 0;
}

wint_t cairn_btowc(int c) {
  if (!cairn_ascii_wide_locale() || !cairn_in_range(c, 0, 127)) return btowc(c);
  return (wint_t)c;
}

int cairn_wctob(wint_t wide) {
  if (!cairn_ascii_wide_locale() || wide >= 0x80) return wctob(wide);
  return (int)wide;
}

wint_t cairn_towlower(wint_t wide) {
  if (!cairn_ascii_wide_locale() || wide >= 0x80) return towlower(wide);
  return (wint_t)cairn_ascii_lower((int)wide);
}

wint_t cairn_towupper(wint_t wide) {
  if (!cairn_ascii_wide_locale() || wide >= 0x80) return towupper(wide);
  return (wint_t)cairn_ascii_upper((int)wide);
}

/* All but `digit`. */
#define CLASSES(CLASS)                                                                                                 \
  CLASS(alnum)                                                                                                         \
  CLASS(alpha)                                                                                                         \
  CLASS(blank)                                                                                                         \
  CLASS(cntrl)                                                                                                         \
  CLASS(graph)                                                                                                         \
  CLASS(lower)                                                                                                         \
  CLASS(print)                                                                                                         \
  CLASS(punct)                                                                                                         \
  CLASS(space)                                                                                                         \
  CLASS(upper)                                                                                                         \
  CLASS(xdigit)

/* For ASCII they return what the functions of ctype.h return. */
#define CLASS(name)                                                                                                    \
  int cairn_isw##name(wint_t wide) {                                                                                   \
    if (!cairn_ascii_wide_locale() || wide >= 0x80) return isw##name(wide);                                            \
    return cairn_is##name((int)wide);                                                                                  \
  }

CLASSES(CLASS)
#undef CLASS

/* The exception: digits are the same everywhere. */
int cairn_iswdigit(wint_t wide) {
  return cairn_in_range((int)wide, '0', '9');
}

/* Classes are compared with those of the current locale by name. Unlike the others, this returns 0 or 1. */
int cairn_iswctype(wint_t wide, wctype_t class) {
  if (!cairn_ascii_wide_locale() || wide >= 0x80) return iswctype(wide, class);
#define CLASS(name)                                                                                                    \
  if (class == wctype(#name)) return cairn_is##name((int)wide) != 0;
  CLASSES(CLASS)
  CLASS(digit)
#undef CLASS
  return iswctype(wide, class);
}
#undef CLASSES

