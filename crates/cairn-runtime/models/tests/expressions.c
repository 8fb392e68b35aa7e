/* Results that are expressions hold for other inputs too, and those of paths for inputs that take the same way.
 *
 * A model runs on one input while everything concrete is recorded: what the runtime says, and what real functions
 * return. Then the same answers are played back while other bytes lie in memory. What comes out is the value that
 * the expression of the first run has for the second input, which must be what glibc says about it. The model must
 * also take the same way: every block that is executed is hashed. A condition that does not hold ends the second
 * run, as it should.
 *
 * The models are compiled with `-fsanitize-coverage=trace-pc`, and the linker leads calls of real functions here. */
#include "declarations.h"
#include <setjmp.h>

/* The tape of concrete values. */
static enum { IDLE, RECORD, PLAY } mode;
static size_t tape[1 << 16];
static size_t n_recorded, n_played;

static size_t taped(size_t value) {
  if (mode == RECORD) tape[n_recorded++] = value;
  return value;
}

static size_t played(void) {
  if (n_played == n_recorded) return 0;
  return tape[n_played++];
}

/* What the runtime says. The names in arena.h lead to the functions behind the tape. */
#define cairn_is_symbolic untaped_is_symbolic
#define cairn_continues untaped_continues
#define cairn_concrete untaped_concrete
#include "arena.h"
#undef cairn_is_symbolic
#undef cairn_continues
#undef cairn_concrete

int cairn_is_symbolic(const void *bytes, size_t n) {
  return mode == PLAY ? (int)played() : (int)taped((size_t)untaped_is_symbolic(bytes, n));
}

int cairn_continues(const void *byte) {
  return mode == PLAY ? (int)played() : (int)taped((size_t)untaped_continues(byte));
}

size_t cairn_concrete(size_t value) {
  return mode == PLAY ? played() : taped(value);
}

#undef isalpha
#undef isspace
#undef ispunct
#undef tolower

/* What real functions return. A model that left its work to one of them would have the old answer. */
#define WRAP(type, name, parameters, arguments)                                                                        \
  type __real_##name parameters;                                                                                       \
  type __wrap_##name parameters { return mode == PLAY ? (type)played() : (type)taped((size_t)__real_##name arguments); }

WRAP(size_t, strlen, (const char *text), (text))
WRAP(size_t, strnlen, (const char *text, size_t n), (text, n))
WRAP(char *, strchrnul, (const char *text, int c), (text, c))
WRAP(void *, memchr, (const void *text, int c, size_t n), (text, c, n))
WRAP(size_t, strspn, (const char *text, const char *set), (text, set))
WRAP(size_t, strcspn, (const char *text, const char *set), (text, set))
WRAP(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n))
WRAP(int, strcmp, (const char *a, const char *b), (a, b))
WRAP(int, strncmp, (const char *a, const char *b, size_t n), (a, b, n))
WRAP(int, strcasecmp, (const char *a, const char *b), (a, b))
WRAP(int, strncasecmp, (const char *a, const char *b, size_t n), (a, b, n))
WRAP(int, strcoll, (const char *a, const char *b), (a, b))
WRAP(char *, strchr, (const char *text, int c), (text, c))
WRAP(char *, strrchr, (const char *text, int c), (text, c))
WRAP(void *, memrchr, (const void *text, int c, size_t n), (text, c, n))
WRAP(char *, strstr, (const char *text, const char *needle), (text, needle))
WRAP(char *, strcasestr, (const char *text, const char *needle), (text, needle))
WRAP(void *, memmem, (const void *text, size_t n, const void *needle, size_t m), (text, n, needle, m))
WRAP(char *, strpbrk, (const char *text, const char *set), (text, set))
WRAP(int, isalpha, (int c), (c))
WRAP(int, isspace, (int c), (c))
WRAP(int, ispunct, (int c), (c))
WRAP(int, tolower, (int c), (c))
WRAP(wint_t, towlower, (wint_t c), (c))
WRAP(wint_t, towupper, (wint_t c), (c))
WRAP(int, iswalpha, (wint_t c), (c))
WRAP(wint_t, btowc, (int c), (c))
WRAP(int, wctob, (wint_t c), (c))
WRAP(size_t, mbrtowc, (wchar_t *wide, const char *text, size_t n, mbstate_t *state), (wide, text, n, state))

/* This one is asked about `errno` too. */
int __real_vsscanf(const char *text, const char *format, va_list arguments);

int __wrap_vsscanf(const char *text, const char *format, va_list arguments) {
  int result = mode == PLAY ? (int)played() : (int)taped((size_t)__real_vsscanf(text, format, arguments));
  errno = mode == PLAY ? (int)played() : (int)taped((size_t)errno);
  return result;
}

/* The same for conversions, which also say where they stopped. */
#define WRAP_CONVERSION(type, name, parameters, arguments)                                                             \
  type __real_##name parameters;                                                                                       \
  type __wrap_##name parameters {                                                                                      \
    type value = 0;                                                                                                    \
    size_t bits = 0;                                                                                                   \
    if (mode == PLAY) {                                                                                                \
      bits = played();                                                                                                 \
      if (end) *end = (char *)played();                                                                                \
      memcpy(&value, &bits, sizeof value);                                                                             \
      return value;                                                                                                    \
    }                                                                                                                  \
    value = __real_##name arguments;                                                                                   \
    memcpy(&bits, &value, sizeof value);                                                                               \
    taped(bits);                                                                                                       \
    if (end) taped((size_t)*end);                                                                                      \
    return value;                                                                                                      \
  }

WRAP_CONVERSION(long, strtol, (const char *text, char **end, int base), (text, end, base))
WRAP_CONVERSION(unsigned long, strtoul, (const char *text, char **end, int base), (text, end, base))
WRAP_CONVERSION(double, strtod, (const char *text, char **end), (text, end))
WRAP_CONVERSION(float, strtof, (const char *text, char **end), (text, end))

/* Where a model goes if a condition does not hold. */
static jmp_buf unmet;

void __real_abort(void) __attribute__((noreturn));

void __wrap_abort(void) {
  if (mode == PLAY) longjmp(unmet, 1);
  __real_abort();
}

static uint64_t way;

void __sanitizer_cov_trace_pc(void) {
  way = (way ^ (uint64_t)(uintptr_t)__builtin_return_address(0)) * 0x100000001b3u;
}

enum { LENGTH = 16 };
static char *s, *other;
/* Where conversions store. */
static struct {
  char *end;
  int integer;
  wchar_t wide;
  char text[64];
  float decimal;
} stored;

#define PATHS(PATH)                                                                                                    \
  PATH("ab", rawmemchr, (s, 0))                                                                                        \
  PATH("ab", strcpy, (stored.text, s))                                                                                 \
  PATH("ab", strncpy, (stored.text, s, 7))                                                                             \
  PATH("ab", stpcpy, (stored.text, s))                                                                                 \
  PATH("ab", memccpy, (stored.text, s, 'a', LENGTH))                                                                   \
  PATH("ab", snprintf, (stored.text, 32, "%s!", s))                                                                    \
  PATH("ab", snprintf, (stored.text, 8, "%5s|%s!", s, other))                                                          \
  PATH("0az\xff", snprintf, (stored.text, 32, "%d %x %c", s[0], s[1], s[2]))                                           \
  PATH("ab\xff", mbrtowc, (&stored.wide, s, 1, &(mbstate_t){0}))                                                       \
  PATH("ab\xff", towlower, (s[0]))

#define EXPRESSIONS(EXPRESSION)                                                                                        \
  EXPRESSION("ab", strlen, (s))                                                                                        \
  EXPRESSION("ab", strnlen, (s, 9))                                                                                    \
  EXPRESSION("abcdefg", strnlen, (s, other[0] & 7))                                                                    \
  EXPRESSION("abcdefg", memcmp, (s, "abcdefg", other[0] & 7))                                                          \
  EXPRESSION("abcdefg", strncmp, (s, "abcdefg", other[0] & 7))                                                         \
  EXPRESSION("abcdefg", memchr, (s, 'a', other[0] & 7))                                                                \
  EXPRESSION("abcdefg", memrchr, (s, 'a', other[0] & 7))                                                               \
  EXPRESSION("ab", memcmp, (s, other, LENGTH))                                                                         \
  EXPRESSION("ab", memcmp, (s, "abaab", 5))                                                                            \
  EXPRESSION("ab", strcmp, (s, "abaab"))                                                                               \
  EXPRESSION("ab", strcmp, ("abaab", s))                                                                               \
  EXPRESSION("ab", strcmp, (s, other))                                                                                 \
  EXPRESSION("ab", strncmp, (s, "abaab", 3))                                                                           \
  EXPRESSION("abAB", strcasecmp, (s, "ABaab"))                                                                         \
  EXPRESSION("abAB", strncasecmp, (s, "ABaab", 4))                                                                     \
  EXPRESSION("ab", strcoll, (s, "abaab"))                                                                              \
  EXPRESSION("ab,", strchr, (s, ','))                                                                                  \
  EXPRESSION("ab,", strchr, ("abc", s[0]))                                                                             \
  EXPRESSION("ab,", strrchr, (s, ','))                                                                                 \
  EXPRESSION("ab,", strchrnul, (s, ','))                                                                               \
  EXPRESSION("ab,", memchr, (s, ',', LENGTH))                                                                          \
  EXPRESSION("ab,", memrchr, (s, ',', LENGTH))                                                                         \
  EXPRESSION("ab", strstr, (s, "aba"))                                                                                 \
  EXPRESSION("abAB", strcasestr, (s, "aBa"))                                                                           \
  EXPRESSION("ab", memmem, (s, LENGTH, "aba", 3))                                                                      \
  EXPRESSION("ab,;", strspn, (s, "ab"))                                                                                \
  EXPRESSION("ab,;", strcspn, (s, ",;"))                                                                               \
  EXPRESSION("ab,;", strpbrk, (s, ",;"))                                                                               \
  EXPRESSION("aA1 \xff", isalpha, ((unsigned char)s[0]))                                                               \
  EXPRESSION("aA1 \xff", isspace, ((unsigned char)s[0]))                                                               \
  EXPRESSION("aA1 .\xff", ispunct, ((unsigned char)s[0]))                                                              \
  EXPRESSION("aA1 \xff", tolower, ((unsigned char)s[0]))                                                               \
  EXPRESSION("aA1 .", iswalpha, (s[0] & 0x7f))                                                                         \
  EXPRESSION("aA1 .", towlower, (s[0] & 0x7f))                                                                         \
  EXPRESSION("aA1 .", towupper, (s[0] & 0x7f))                                                                         \
  EXPRESSION("aA1 .", btowc, (s[0] & 0x7f))                                                                            \
  EXPRESSION("aA1 .", wctob, (s[0] & 0x7f))                                                                            \
  EXPRESSION("aA1 .", mbrtowc, (&stored.wide, s, 1, &(mbstate_t){0}))                                                  \
  EXPRESSION(" +-019a", strtol, (s, &stored.end, 10))                                                                  \
  EXPRESSION(" -0123456789", strtol, (s, NULL, 10))                                                                    \
  EXPRESSION(" +-019xag", strtol, (s, &stored.end, 16))                                                                \
  EXPRESSION("01xX", strtol, (s, &stored.end, 16))                                                                     \
  EXPRESSION(" +-0189xag", strtoul, (s, &stored.end, 0))                                                               \
  EXPRESSION("08x", strtoul, (s, &stored.end, 0))                                                                      \
  EXPRESSION("zZ9-", strtol, (s, &stored.end, 36))                                                                     \
  EXPRESSION(" -12", atoi, (s))                                                                                        \
  EXPRESSION("-1a", sscanf, (s, "%d", &stored.integer))                                                            \
  EXPRESSION("-10x", sscanf, (s, "%4i", &stored.integer))                                                          \
  EXPRESSION("-12.a", sscanf, (s, "%f", &stored.decimal))                                                              \
  EXPRESSION("-12a.", strtod, (s, &stored.end))                                                                        \
  EXPRESSION("1.eE-", strtod, (s, &stored.end))                                                                        \
  EXPRESSION("-12a.", strtof, (s, &stored.end))                                                                        \
  EXPRESSION("a-", abs, (s[0] - 'a'))

/* Fills the string and what follows it in the input, zeros included. There is always one: a string without would have
 * one byte more that matters, the zero after the input. */
static void randomise(const char *alphabet) {
  size_t n = strlen(alphabet) + 1;
  for (size_t i = 0; i < LENGTH; i++) {
    s[i] = alphabet[random_below(n)];
    other[i] = alphabet[random_below(n)];
  }
  s[LENGTH - 1] = other[LENGTH - 1] = 0;
}

#define BITS(value)                                                                                                    \
  ({                                                                                                                   \
    __typeof__(value) its = value;                                                                                     \
    uint64_t bits = 0;                                                                                                 \
    memcpy(&bits, &its, sizeof its);                                                                                   \
    bits;                                                                                                              \
  })

static int n_failed;

static void fail(const char *call, const char *first, const char *why) {
  fprintf(stderr, "%s, recorded with \"%.16s\" and evaluated for \"%.16s\" and \"%.16s\": %s\n", call, first, s, other,
          why);
  n_failed++;
}

/* Formats with several directives, and texts that have the layout that is tried for them. */
static const struct {
  const char *format, *text;
} LAYOUTS[] = {
    {"%d,%d", "1234567,89"},
    {"%d,%d", "-000005,99999999"},
    {"%d %d", "0000012 -7"},
    {"%d%d", "0000012 -7x"},
    {"x=%d y=%x", "x=00042 y=0xfg"},
    {"%1s %d", "a 42"},
    {"%s%d", "a 42"},
    {"%2c:%f", "ab:1.5"},
    {"%[ab]%d", "a 5"},
    {"%[^,],%d", "a,5"},
    {"%2d%3d", "12 345"},
    {"<%d>%n", "<0000000042>"},
    {"%f %f", "00.2500 -3e1"},
    {"%*d %d", "0000000 7"},
    {"%d%%", "0000000042%"},
    {"%i-%i", "0x00123-010"},
    {"key %c", "keya"},
};

/* What lies behind the end of a word is nobody's business. */
static void forget_after_word(const char *format) {
  if (strpbrk(format, "s[") == NULL) return;
  size_t length = strnlen(stored.text, sizeof stored.text);
  memset(stored.text + length, 0x55, sizeof stored.text - length);
}

/* Whatever text a scan failed on, it knows about the layout. */
static void check_layouts(long rounds) {
  static const char *const alphabets[] = {"A", "1", "", "1, -", "ax=,"};
  for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++) {
    const char *format = LAYOUTS[i].format;
    for (long round = 0; round < rounds; round++) {
      char first[LENGTH];
      randomise(alphabets[round % 5]);
      memcpy(first, s, LENGTH);
      n_recorded = n_played = 0;
      mode = RECORD;
      int recorded = cairn_sscanf(s, format, &stored.text, &stored.integer);
      mode = IDLE;

      strncpy(s, LAYOUTS[i].text, LENGTH);
      memset(&stored, 0x55, sizeof stored);
      int want = sscanf(s, format, &stored.text, &stored.integer);
      forget_after_word(format);
      __typeof__(stored) stored_want = stored;
      memset(&stored, 0x55, sizeof stored);
      /* Where a scan succeeds there is no need for a layout. */
      if (recorded == want) continue;
      if (setjmp(unmet)) {
        mode = IDLE;
        fail(format, first, "it does not allow its layout");
        return;
      }
      mode = PLAY;
      int got = cairn_sscanf(s, format, &stored.text, &stored.integer);
      mode = IDLE;
      forget_after_word(format);
      if (got != want) fail(format, first, "it does not know the result of its layout");
      if (memcmp(&stored, &stored_want, sizeof stored) != 0) fail(format, first, "it stores other values");
      if (n_failed) return;
    }
  }
}

/* How many rounds; and whether windows are so small that expressions turn into paths. */
int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  bool all_are_paths = argc > 2;
  int n_expressions = 0;
  make_arenas();
  values_are_labelled = true;
  s = arena[0] + ARENA_SIZE - LENGTH - 1;
  other = arena[1] + ARENA_SIZE - LENGTH - 1;
  label(0, s, LENGTH);
  label(1, other, LENGTH);
  /* The first call in a locale looks at all characters. */
  cairn_isalpha('a');
  cairn_towlower('a');

#define EXPRESSION(alphabet, name, arguments) CHECK(all_are_paths, alphabet, name, arguments)
#define PATH(alphabet, name, arguments) CHECK(true, alphabet, name, arguments)
#define CHECK(is_path, alphabet, name, arguments)                                                                      \
  {                                                                                                                    \
    volatile long n_unmet = 0, n_values = 0;                                                                           \
    volatile uint64_t last = 0;                                                                                        \
    for (volatile long round = 0; round < rounds && n_failed == 0; round++) {                                          \
      char first[LENGTH];                                                                                              \
      randomise(alphabet);                                                                                             \
      memcpy(first, s, LENGTH);                                                                                        \
      n_recorded = n_played = 0;                                                                                       \
      way = 0;                                                                                                         \
      mode = RECORD;                                                                                                   \
      cairn_##name arguments;                                                                                          \
      mode = IDLE;                                                                                                     \
      uint64_t way_there = way;                                                                                        \
                                                                                                                       \
      randomise(alphabet);                                                                                             \
      memset(&stored, 0x55, sizeof stored);                                                                            \
      uint64_t want = BITS(name arguments);                                                                            \
      __typeof__(stored) stored_want = stored;                                                                         \
      memset(&stored, 0x55, sizeof stored);                                                                            \
      way = 0;                                                                                                         \
      if (setjmp(unmet)) {                                                                                             \
        mode = IDLE;                                                                                                   \
        n_unmet++;                                                                                                     \
        continue;                                                                                                      \
      }                                                                                                                \
      mode = PLAY;                                                                                                     \
      uint64_t got = BITS(cairn_##name arguments);                                                                     \
      mode = IDLE;                                                                                                     \
      if (is_path && way != way_there) {                                                                               \
        n_unmet++;                                                                                                     \
        continue;                                                                                                      \
      }                                                                                                                \
      n_values += round == 0 || want != last;                                                                          \
      last = want;                                                                                                     \
      if (way != way_there) fail(#name #arguments, first, "it takes another way");                                     \
      if (n_played != n_recorded) fail(#name #arguments, first, "it asks other questions");                            \
      if (want != got) fail(#name #arguments, first, "it has another value than glibc");                               \
      if (memcmp(&stored, &stored_want, sizeof stored) != 0) fail(#name #arguments, first, "it stores other values");  \
    }                                                                                                                  \
    bool says_little = is_path ? n_unmet > rounds - 10 : n_values < 10 || n_unmet > rounds / 2;                        \
    if (n_failed == 0 && says_little && !all_are_paths) fail(#name #arguments, "", "it says too little");              \
    n_expressions++;                                                                                                   \
  }
  EXPRESSIONS(EXPRESSION)
  PATHS(PATH)
  if (!all_are_paths) check_layouts(rounds / 10);
  printf("%d expressions\n", n_expressions);
  return n_failed != 0;
}
