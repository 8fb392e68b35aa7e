/* ctype.h, the wide characters and stdlib's arithmetic against glibc, in the locale named on the command line.
 *
 * One for each process, because glibc stops when it finds what is left of a character of another locale. */
#include "declarations.h"
#include "expect.h"

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

static long now;
static const char *locale_name;

static void describe(void) {
  fprintf(stderr, "  of %ld in locale %s\n", now, locale_name);
}

static void compare_bytes(locale_t locale) {
  for (int c = -128; c < 256; c++) {
    now = c;
#define COMPARE(name)                                                                                                  \
  EXPECT(#name, name(c), cairn_##name(c));                                                                             \
  EXPECT(#name "_l", name##_l(c, locale), cairn_##name##_l(c, locale));
    CHARACTER_FUNCTIONS(COMPARE)
#undef COMPARE
    EXPECT("btowc", btowc(c), cairn_btowc(c));
  }
  for (int c = -1000; c < 1000; c++) {
    now = c;
    EXPECT("tolower", tolower(c), cairn_tolower(c));
    EXPECT("toupper", toupper(c), cairn_toupper(c));
    EXPECT("isascii", isascii(c), cairn_isascii(c));
    EXPECT("toascii", toascii(c), cairn_toascii(c));
  }
}

static void compare_wide(void) {
  static const char *const names[] = {"alnum", "alpha", "blank", "cntrl", "digit", "graph",
                                      "lower", "print", "punct", "space", "upper", "xdigit"};
  for (wint_t c = 0; c < 0x3000; c++) {
    now = c;
#define COMPARE(name) EXPECT(#name, name(c), cairn_##name(c));
    WIDE_FUNCTIONS(COMPARE)
#undef COMPARE
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      EXPECT("iswctype", iswctype(c, wctype(names[i])), cairn_iswctype(c, wctype(names[i])));
    }
    EXPECT("iswctype of no class", iswctype(c, wctype("none")), cairn_iswctype(c, wctype("none")));
  }
  EXPECT("towlower of WEOF", towlower(WEOF), cairn_towlower(WEOF));
  EXPECT("iswalpha of WEOF", iswalpha(WEOF), cairn_iswalpha(WEOF));
}

/* Converts texts of valid, broken and cut characters, with the state kept from call to call. */
static void compare_conversions(long rounds) {
  static const unsigned char bytes[] = {0, 'a', 'Z', '0', '\n', 0x7f, 0x80, 0xa4, 0xc3, 0xe2, 0x82, 0xac, 0xf0, 0xff};
  mbstate_t state_want = {0}, state_got = {0};
  mbstate_t length_want = {0}, length_got = {0};
  for (long round = 0; round < rounds; round++) {
    char text[4];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)bytes[random_below(sizeof bytes)];
    now = (unsigned char)text[0];
    size_t n = random_below(5);
    bool own = random_below(2), stores = random_below(4), reads = random_below(32);
    if (random_below(16) == 0) state_want = state_got = length_want = length_got = (mbstate_t){0};
    const char *from = reads ? text : NULL;

    wchar_t want = 7, got = 7;
    EXPECT("mbrtowc", mbrtowc(stores ? &want : NULL, from, n, own ? &state_want : NULL),
           cairn_mbrtowc(stores ? &got : NULL, from, n, own ? &state_got : NULL));
    EXPECT("mbrtowc's character", want, got);
    EXPECT("mbsinit", mbsinit(&state_want), mbsinit(&state_got));
    EXPECT("mbrlen", mbrlen(from, n, own ? &length_want : NULL), cairn_mbrlen(from, n, own ? &length_got : NULL));
    want = got = 7;
    EXPECT("mbtowc", mbtowc(stores ? &want : NULL, from, n), cairn_mbtowc(stores ? &got : NULL, from, n));
    EXPECT("mbtowc's character", want, got);
    EXPECT("mblen", mblen(from, n), cairn_mblen(from, n));
  }
}

static void compare_case_insensitive(long rounds, locale_t locale) {
  for (long round = 0; round < rounds; round++) {
    static const char alphabet[] = "aAzZ@[`{\x80\xff\xe9\xc9";
    size_t n = random_below(5), bound = random_below(6);
    char *a = random_string(0, n, alphabet, sizeof alphabet - 1);
    char *b = random_string(1, n, alphabet, sizeof alphabet - 1);
    EXPECT("strcasecmp", strcasecmp(a, b), cairn_strcasecmp(a, b));
    EXPECT("strcasecmp_l", strcasecmp_l(a, b, locale), cairn_strcasecmp_l(a, b, locale));
    EXPECT("strncasecmp_l", strncasecmp_l(a, b, bound, locale), cairn_strncasecmp_l(a, b, bound, locale));
    EXPECT("strcoll", strcoll(a, b), cairn_strcoll(a, b));
  }
}

static void compare_arithmetic(void) {
  static const int numbers[] = {0, 1, -1, 2, -2, 7, -7, 1000, -1000, INT_MAX, -INT_MAX};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    int a = numbers[i];
    now = a;
    EXPECT("abs", abs(a), cairn_abs(a));
    EXPECT("labs", labs(a * 3000000000l), cairn_labs(a * 3000000000l));
    for (size_t j = 1; j < sizeof numbers / sizeof *numbers; j++) {
      int b = numbers[j];
      EXPECT("div", div(a, b).quot, cairn_div(a, b).quot);
      EXPECT("div's remainder", div(a, b).rem, cairn_div(a, b).rem);
      EXPECT("ldiv", ldiv(a, b).quot, cairn_ldiv(a, b).quot);
      EXPECT("ldiv's remainder", ldiv(a, b).rem, cairn_ldiv(a, b).rem);
    }
  }
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  make_arenas();
  compare_arithmetic();
  locale_name = argc > 2 ? argv[2] : "C";
  locale_t locale = newlocale(LC_ALL_MASK, locale_name, NULL);
  if (locale == NULL || setlocale(LC_ALL, locale_name) == NULL) {
    fprintf(stderr, "there is no locale %s\n", locale_name);
    return 2;
  }
  compare_bytes(locale);
  compare_wide();
  compare_conversions(rounds);
  compare_case_insensitive(rounds, locale);
  return finish();
}
