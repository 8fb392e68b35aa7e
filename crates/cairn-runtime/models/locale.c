/* Whether the current locale treats ASCII as the C locale does.
 *
 * Each question is answered by asking the real functions about every character, once for each locale. A locale is
 * known by the address of its table of classes. */
#include "models.h"
#include <ctype.h>
#include <langinfo.h>
#include <wctype.h>

/* The classes of a character in the C locale, as glibc keeps them in its table. */
static unsigned short cairn_class(int c) {
  bool upper = cairn_in_range(c, 'A', 'Z');
  bool lower = cairn_in_range(c, 'a', 'z');
  bool digit = cairn_in_range(c, '0', '9');
  bool hex = digit | cairn_in_range(c, 'a', 'f') | cairn_in_range(c, 'A', 'F');
  bool graph = cairn_in_range(c, '!', '~');
  bool alnum = upper | lower | digit;
  return (upper ? _ISupper : 0) | (lower ? _ISlower : 0) | (upper | lower ? _ISalpha : 0) | (digit ? _ISdigit : 0) |
         (hex ? _ISxdigit : 0) | (cairn_ascii_space(c) ? _ISspace : 0) | (graph | (c == ' ') ? _ISprint : 0) |
         (graph ? _ISgraph : 0) | ((c == ' ') | (c == '\t') ? _ISblank : 0) |
         (cairn_in_range(c, 0, 31) | (c == 127) ? _IScntrl : 0) | (graph & !alnum ? _ISpunct : 0) |
         (alnum ? _ISalnum : 0);
}

static bool cairn_are_ascii(const unsigned short *classes, const int32_t *lower, const int32_t *upper) {
  for (int c = -128; c < 256; c++) {
    if (classes[c] != cairn_class(c)) return false;
    /* The tables answer for signed characters too, with the number of the unsigned one; -1 is the end of a file. */
    int itself = c < -1 ? c + 256 : c;
    if (lower[c] != cairn_ascii_lower(itself) || upper[c] != cairn_ascii_upper(itself)) return false;
  }
  return true;
}

/* The locale asked about last. */
static struct {
  const unsigned short *classes;
  bool ascii;
} cairn_known, cairn_known_wide;

static bool cairn_is_ascii(const unsigned short *classes, const int32_t *lower, const int32_t *upper) {
  if (cairn_known.classes != classes) {
    cairn_known.ascii = cairn_are_ascii(classes, lower, upper);
    cairn_known.classes = classes;
  }
  return cairn_known.ascii;
}

/* Whether bytes have the classes and cases they have in the C locale. */
static bool cairn_ascii_locale(void) {
  return cairn_is_ascii(*__ctype_b_loc(), *__ctype_tolower_loc(), *__ctype_toupper_loc());
}

static bool cairn_ascii_locale_l(locale_t locale) {
  return cairn_is_ascii(locale->__ctype_b, locale->__ctype_tolower, locale->__ctype_toupper);
}

static bool cairn_is_ascii_wide(void) {
  if (!cairn_ascii_locale()) return false;
  for (int c = 0; c < 128; c++) {
    char byte = (char)c;
    wchar_t wide = -1;
    mbstate_t state = {0};
    if (mbrtowc(&wide, &byte, 1, &state) != (size_t)(c != 0) || wide != c) return false;
    if (btowc(c) != (wint_t)c || wctob((wint_t)c) != c) return false;
    if (towlower((wint_t)c) != (wint_t)cairn_ascii_lower(c)) return false;
    if (towupper((wint_t)c) != (wint_t)cairn_ascii_upper(c)) return false;
  }
  return true;
}

/* Whether each ASCII byte is a character, that of the same number, with the cases it has in the C locale. */
static bool cairn_ascii_wide_locale(void) {
  const unsigned short *classes = *__ctype_b_loc();
  if (cairn_known_wide.classes != classes) {
    cairn_known_wide.ascii = cairn_is_ascii_wide();
    cairn_known_wide.classes = classes;
  }
  return cairn_known_wide.ascii;
}

/* Whether strings are ordered by their bytes: the locale has no rules for it. glibc keeps their number where
 * `nl_langinfo` keeps addresses. */
static bool cairn_byte_collation(void) {
  return (uint32_t)(uintptr_t)nl_langinfo(_NL_COLLATE_NRULES) == 0;
}
