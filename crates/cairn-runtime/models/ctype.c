/* The functions of ctype.h. C programs mostly look into glibc's tables through macros; C++ programs call these.
 *
 * They return the bits of the class, as glibc does. In locales that have more letters than ASCII, the real ones
 * answer. */
#include "models.h"
#include <ctype.h>

#define CLASS(name, bit, test)                                                                                         \
  int cairn_##name(int c) {                                                                                            \
    if (!cairn_ascii_locale()) return name(c);                                                                         \
    return (test) ? bit : 0;                                                                                           \
  }                                                                                                                    \
  int cairn_##name##_l(int c, locale_t locale) {                                                                       \
    if (!cairn_ascii_locale_l(locale)) return name##_l(c, locale);                                                     \
    return (test) ? bit : 0;                                                                                           \
  }

#undef isalnum
#undef isalpha
#undef isblank
#undef iscntrl
#undef isdigit
#undef isgraph
#undef islower
#undef isprint
#undef ispunct
#undef isspace
#undef isupper
#undef isxdigit
#undef tolower
#undef toupper

#define UPPER cairn_in_range(c, 'A', 'Z')
#define LOWER cairn_in_range(c, 'a', 'z')
#define DIGIT cairn_in_range(c, '0', '9')
#define GRAPH cairn_in_range(c, '!', '~')

CLASS(isupper, _ISupper, UPPER)
CLASS(islower, _ISlower, LOWER)
CLASS(isalpha, _ISalpha, UPPER | LOWER)
CLASS(isdigit, _ISdigit, DIGIT)
CLASS(isxdigit, _ISxdigit, DIGIT | cairn_in_range(c, 'a', 'f') | cairn_in_range(c, 'A', 'F'))
CLASS(isspace, _ISspace, cairn_ascii_space(c))
CLASS(isprint, _ISprint, cairn_in_range(c, ' ', '~'))
CLASS(isgraph, _ISgraph, GRAPH)
CLASS(isblank, _ISblank, (c == ' ') | (c == '\t'))
CLASS(iscntrl, _IScntrl, cairn_in_range(c, 0, 31) | (c == 127))
CLASS(ispunct, _ISpunct, GRAPH & !(UPPER | LOWER | DIGIT))
CLASS(isalnum, _ISalnum, UPPER | LOWER | DIGIT)

#undef UPPER
#undef LOWER
#undef DIGIT
#undef GRAPH
#undef CLASS

/* Characters that came as negative numbers leave as positive ones, except the end of a file. */
static int cairn_unsigned_character(int c) {
  return cairn_in_range(c, -128, -2) ? c + 256 : c;
}

int cairn_tolower(int c) {
  if (!cairn_ascii_locale()) return tolower(c);
  return cairn_ascii_lower(cairn_unsigned_character(c));
}

int cairn_toupper(int c) {
  if (!cairn_ascii_locale()) return toupper(c);
  return cairn_ascii_upper(cairn_unsigned_character(c));
}

int cairn_tolower_l(int c, locale_t locale) {
  if (!cairn_ascii_locale_l(locale)) return tolower_l(c, locale);
  return cairn_ascii_lower(cairn_unsigned_character(c));
}

int cairn_toupper_l(int c, locale_t locale) {
  if (!cairn_ascii_locale_l(locale)) return toupper_l(c, locale);
  return cairn_ascii_upper(cairn_unsigned_character(c));
}

int cairn_isascii(int c) {
  return (c & ~0x7f) == 0;
}

int cairn_toascii(int c) {
  return c & 0x7f;
}
