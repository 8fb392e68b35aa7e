/* The models, as the pass calls them. */
#ifndef DECLARATIONS_H
#define DECLARATIONS_H

#include "../models.h"
#include <ctype.h>
#include <uchar.h>
#include <wctype.h>

#define SAME_AS(name) __typeof__(name) cairn_##name

SAME_AS(strlen); SAME_AS(strnlen); SAME_AS(wcslen);
SAME_AS(memcmp); SAME_AS(strcmp); SAME_AS(strncmp); SAME_AS(strcasecmp); SAME_AS(strncasecmp); SAME_AS(strcoll);
SAME_AS(strcasecmp_l); SAME_AS(strncasecmp_l); SAME_AS(wcscmp);
SAME_AS(strchr); SAME_AS(strrchr); SAME_AS(strchrnul); SAME_AS(memchr); SAME_AS(memrchr); SAME_AS(rawmemchr);
SAME_AS(strstr); SAME_AS(strcasestr); SAME_AS(memmem);
SAME_AS(strspn); SAME_AS(strcspn); SAME_AS(strpbrk);
SAME_AS(strsep); SAME_AS(strtok); SAME_AS(strtok_r);
SAME_AS(strcpy); SAME_AS(strncpy); SAME_AS(stpcpy); SAME_AS(stpncpy); SAME_AS(strcat); SAME_AS(strncat);
SAME_AS(strdup); SAME_AS(strndup); SAME_AS(mempcpy); SAME_AS(memccpy);
SAME_AS(strtod); SAME_AS(strtof); SAME_AS(atof); SAME_AS(atoi); SAME_AS(atol);
SAME_AS(qsort); SAME_AS(qsort_r); SAME_AS(bsearch);
SAME_AS(snprintf); SAME_AS(sprintf); SAME_AS(asprintf);
SAME_AS(abs); SAME_AS(labs); SAME_AS(div); SAME_AS(ldiv);
SAME_AS(mbrtowc); SAME_AS(mbrlen); SAME_AS(mbtowc); SAME_AS(mblen); SAME_AS(btowc); SAME_AS(wctob);
SAME_AS(towlower); SAME_AS(towupper); SAME_AS(iswctype);

long cairn_strtol(const char *, char **, int);
unsigned long cairn_strtoul(const char *, char **, int);
long cairn_strtol_l(const char *, char **, int, locale_t);
unsigned long cairn_strtoul_l(const char *, char **, int, locale_t);
long cairn_isoc23_strtol(const char *, char **, int);
int cairn_sscanf(const char *, const char *, ...);
int cairn_isoc99_sscanf(const char *, const char *, ...);
char *cairn_strcpy_chk(char *, const char *, size_t);
char *cairn_stpcpy_chk(char *, const char *, size_t);
char *cairn_strncpy_chk(char *, const char *, size_t, size_t);
char *cairn_stpncpy_chk(char *, const char *, size_t, size_t);
char *cairn_strcat_chk(char *, const char *, size_t);
char *cairn_strncat_chk(char *, const char *, size_t, size_t);
void *cairn_mempcpy_chk(void *, const void *, size_t, size_t);
int cairn_snprintf_chk(char *, size_t, int, size_t, const char *, ...);
int cairn_sprintf_chk(char *, int, size_t, const char *, ...);
int cairn_asprintf_chk(char **, int, const char *, ...);

#define CHARACTER_FUNCTIONS(FUNCTION)                                                                                  \
  FUNCTION(isalnum) FUNCTION(isalpha) FUNCTION(isblank) FUNCTION(iscntrl) FUNCTION(isdigit) FUNCTION(isgraph)          \
  FUNCTION(islower) FUNCTION(isprint) FUNCTION(ispunct) FUNCTION(isspace) FUNCTION(isupper) FUNCTION(isxdigit)         \
  FUNCTION(tolower) FUNCTION(toupper)

#define WIDE_FUNCTIONS(FUNCTION)                                                                                       \
  FUNCTION(iswalnum) FUNCTION(iswalpha) FUNCTION(iswblank) FUNCTION(iswcntrl) FUNCTION(iswdigit) FUNCTION(iswgraph)    \
  FUNCTION(iswlower) FUNCTION(iswprint) FUNCTION(iswpunct) FUNCTION(iswspace) FUNCTION(iswupper) FUNCTION(iswxdigit)   \
  FUNCTION(towlower) FUNCTION(towupper) FUNCTION(wctob)

#define DECLARE(name) int cairn_##name(int); int cairn_##name##_l(int, locale_t);
CHARACTER_FUNCTIONS(DECLARE)
#undef DECLARE
int cairn_isascii(int);
int cairn_toascii(int);
#define DECLARE(name) __typeof__(name) cairn_##name;
WIDE_FUNCTIONS(DECLARE)
#undef DECLARE

#endif
