/* strtol, strtod and their kin against glibc: value, end and errno. */
#include "declarations.h"
#include "expect.h"
#include <fenv.h>

static char *s;
static size_t n;
static int base;

static void describe(void) {
  show("s", s, n + 1);
  fprintf(stderr, "  base = %d\n", base);
}

static uint64_t bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

long c17_strtol(const char *, char **, int) __asm__("strtol");
unsigned long c17_strtoul(const char *, char **, int) __asm__("strtoul");

/* Headers say that these change nothing, and the compiler believes it; they set `errno` all the same. */
static int (*volatile impure_atoi)(const char *) = atoi;
static long (*volatile impure_atol)(const char *) = atol;
static double (*volatile impure_atof)(const char *) = atof;
static int (*volatile model_atoi)(const char *) = cairn_atoi;
static long (*volatile model_atol)(const char *) = cairn_atol;
static double (*volatile model_atof)(const char *) = cairn_atof;

/* Calls both and compares what they return, where they stopped, and `errno`. */
#define CONVERT(what, type, bits, real, model)                                                                         \
  do {                                                                                                                 \
    char *end_want = (char *)1, *end_got = (char *)1;                                                                  \
    char **end __attribute__((unused)) = &end_want;                                                                    \
    errno = 77;                                                                                                        \
    type want = real;                                                                                                  \
    int errno_want = errno;                                                                                            \
    end = &end_got;                                                                                                    \
    errno = 77;                                                                                                        \
    type got = model;                                                                                                  \
    int errno_got = errno;                                                                                             \
    EXPECT(what, bits(want), bits(got));                                                                               \
    EXPECT(what "'s end", end_want - s, end_got - s);                                                                  \
    EXPECT(what "'s errno", errno_want, errno_got);                                                                    \
  } while (0)

static void compare_integers(locale_t locale) {
  CONVERT("strtol", long, , c17_strtol(s, end, base), cairn_strtol(s, end, base));
  CONVERT("strtoul", unsigned long, , c17_strtoul(s, end, base), cairn_strtoul(s, end, base));
  CONVERT("strtol_l", long, , strtol_l(s, end, base, locale), cairn_strtol_l(s, end, base, locale));
  CONVERT("strtoul_l", unsigned long, , strtoul_l(s, end, base, locale), cairn_strtoul_l(s, end, base, locale));
  CONVERT("strtol without end", long, , c17_strtol(s, NULL, base), cairn_strtol(s, NULL, base));
  CONVERT("atoi", int, , impure_atoi(s), model_atoi(s));
  CONVERT("atol", long, , impure_atol(s), model_atol(s));
}

static void compare_decimals(void) {
  CONVERT("strtod", double, bits, strtod(s, end), cairn_strtod(s, end));
  CONVERT("strtof", float, bits_of_float, strtof(s, end), cairn_strtof(s, end));
  CONVERT("atof", double, bits, impure_atof(s), model_atof(s));
}

static void use(const char *text) {
  n = strlen(text);
  s = arena[0] + ARENA_SIZE - n - 1;
  memcpy(s, text, n + 1);
  label(0, s, n + 1);
}

static const char *const EDGES[] = {
    "", " ", "-", "+", "0", "-0", "+0", "00", "0x", "0X", "0xg", "0x1", "-0x1f", "+0x", "0x0x1", "08", "09", "0b1",
    "0z",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615", "18446744073709551616", "-18446744073709551615", "-18446744073709551616",
    "99999999999999999999999999999", "-99999999999999999999999999999", "0x7fffffffffffffff", "0x8000000000000000",
    "0xffffffffffffffff", "0x10000000000000000", "-0x8000000000000000", "0777777777777777777777",
    "01777777777777777777777", "02000000000000000000000", " \t\n\v\f\r42", "  - 1", "--1", "+-1", "1 2", "zz", "-zz",
    "3w5e11264sgsf", "3w5e11264sgsg", "1y2p0ij32e8e7", "1y2p0ij32e8e8", "2147483647", "2147483648", "-2147483649",
    "\2401", "1\240", "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
    ".", "-.", ".5", "5.", "-.5e1", "1e", "1e+", "1e-5", "1e5", "1.5e-22", "1e22", "1e23", "-1e23", "1e400", "1e-400",
    "4.9e-324", "2.2250738585072011e-308", "9007199254740993", "9007199254740992.5", "0.1", "0.30000000000000004",
    "123456789012345678901234567890", "inf", "-INFINITY", "infin", "nan", "nan(12)", "nan(", "0x1p3", "0x.8",
    "0x1.8p-1",
    "0xp", "1.7976931348623157e308", "1.7976931348623159e308", "3.4028235e38", "3.4028236e38", "16777217",
    "1e1000000000000",
    "1.e1", "..1", "1..2", "1e1e1", "1e1.5", "0e9999999999", "0.000000000000000000000000000001", "1,5", "1_000",
};

/* Texts that look like numbers, most of the time. */
static void random_number(void) {
  static const char *const alphabets[] = {"0123456789", "01", "0189afzAFZxX", " \t-+01xX", "0123456789.eE+-",
      "09.e-"};
  char text[128];
  size_t length = 0;
  while (random_below(6) == 0) text[length++] = " \t\n\r"[random_below(4)];
  if (random_below(3) == 0) text[length++] = "+-"[random_below(2)];
  if (random_below(6) == 0) text[length++] = '0';
  if (random_below(6) == 0) text[length++] = "xXbB"[random_below(4)];
  const char *alphabet = alphabets[random_below(6)];
  size_t n_digits = random_below(8) ? random_below(9) : random_below(32);
  while (n_digits-- > 0) text[length++] = alphabet[random_below(strlen(alphabet))];
  if (random_below(3) == 0) text[length++] = '.';
  if (random_below(4) == 0) {
    n_digits = random_below(5);
    while (n_digits-- > 0) text[length++] = (char)('0' + random_below(10));
    if (random_below(3) == 0) text[length++] = "eEx"[random_below(3)];
    if (random_below(2) == 0) text[length++] = "+-"[random_below(2)];
    n_digits = random_below(3);
    while (n_digits-- > 0) text[length++] = (char)('0' + random_below(10));
  }
  if (random_below(4) == 0) text[length++] = (char)random_bits();
  text[length] = 0;
  length = strlen(text);
  n = length;
  s = random_string(0, length, "1", 1);
  memcpy(s, text, length);
}

static void random_base(void) {
  static const int usual[] = {10, 10, 10, 16, 0, 0, 8, 2, 36};
  base = random_below(16) ? usual[random_below(9)] : (int)random_below(42) - 2;
}

/* There need not be a glibc here that knows C23, but it differs in one thing only. */
static void compare_binary(void) {
  static const struct {
    const char *text;
    int base;
    long value;
    long end;
  } cases[] = {
      {"0b101", 0, 5, 5}, {"0B11x", 2, 3, 4}, {"-0b1", 0, -1, 4}, {"0b", 0, 0, 1}, {"0b2", 2, 0, 1}, {"0b1", 16,
      0xb1, 3},
      {"0b1", 10, 0, 1},  {"0x1f", 0, 31, 4}, {"017", 0, 15, 3},  {"19", 0, 19, 2}, {"b1", 0, 0, 0}, {"0b12", 0, 1,
      3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *end;
    use(cases[i].text);
    base = cases[i].base;
    EXPECT("strtol of C23", cases[i].value, cairn_isoc23_strtol(s, &end, base));
    EXPECT("strtol of C23's end", cases[i].end, end - s);
  }
}

/* Stands in where glibc is older. The model asks the real function only how much it consumes, at least. */
__attribute__((weak)) long __isoc23_strtol(const char *text, char **end, int its_base) {
  return c17_strtol(text, end, its_base);
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  locale_t locale = newlocale(LC_ALL_MASK, "C", NULL);
  make_arenas();
  compare_binary();
  for (size_t i = 0; i < sizeof EDGES / sizeof *EDGES; i++) {
    for (base = -1; base < 40; base++) {
      use(EDGES[i]);
      compare_integers(locale);
    }
    compare_decimals();
  }
  for (long round = 0; round < rounds; round++) {
    random_number();
    random_base();
    values_are_labelled = random_below(4) == 0;
    compare_integers(locale);
    compare_decimals();
  }
  fesetround(FE_UPWARD);
  for (long round = 0; round < rounds / 10; round++) {
    random_number();
    compare_decimals();
  }
  return finish();
}
