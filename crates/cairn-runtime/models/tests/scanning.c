/* sscanf against glibc: the result, every byte stored, and errno.
 *
 * The model asks the real function. What that one stores is taken back here, so that what is compared comes from the
 * model. */
#include "declarations.h"
#include "expect.h"

int c17_sscanf(const char *, const char *, ...) __asm__("sscanf");
int __isoc99_sscanf(const char *, const char *, ...);

static char *s;
static size_t n;
static char format[128];

static void describe(void) {
  show("s", s, n + 1);
  show("format", format, strlen(format));
}

/* Four places to store into, large enough for what one directive stores. */
enum { PLACES = 5, PLACE = 512 };
static _Alignas(16) char want[PLACES][PLACE], got[PLACES][PLACE];

int __real___isoc99_vsscanf(const char *, const char *, va_list);

int __wrap___isoc99_vsscanf(const char *text, const char *directives, va_list arguments) {
  int result = __real___isoc99_vsscanf(text, directives, arguments);
  /* With nothing symbolic, nobody else stores. */
  if (cairn_is_symbolic(text, strlen(text) + 1)) memset(got, 0x55, sizeof got);
  return result;
}

/* Scans with directives that the model may leave to the real function, and those it did. */
static unsigned long n_doubtful, n_left;

static void compare(bool modelled) {
  memset(want, 0x55, sizeof want);
  memset(got, 0x55, sizeof got);
  errno = 77;
  int of_want = __isoc99_sscanf(s, format, want[0], want[1], want[2], want[3], want[4]);
  int errno_want = errno;
  errno = 77;
  int of_got = cairn_isoc99_sscanf(s, format, got[0], got[1], got[2], got[3], got[4]);
  int errno_got = errno;
  EXPECT("sscanf", of_want, of_got);
  EXPECT("sscanf's errno", errno_want, errno_got);
  if (!modelled) return;
  if (strpbrk(format, "fg")) {
    n_doubtful++;
    n_left += memcmp(want, got, sizeof want) != 0;
    return;
  }
  for (int i = 0; i < PLACES; i++) EXPECT_BYTES("sscanf's arguments", want[i], got[i], PLACE);
}

static void add(char *text, const char *more) {
  strcpy(text + strlen(text), more);
}

/* A directive, and often a text it accepts. */
static void random_directive(char *text) {
  static const char *const sizes[] = {"", "", "", "hh", "h", "l", "ll", "z", "j", "t"};
  static const char *const integers[] = {"d", "i", "u", "x", "X", "o"};
  static const char *const sets[] = {"[abc]", "[^,]", "[a-z]", "[]x]", "[^]x]", "[0-9a-fx]", "[-a]", "[a-]",
      "[z-a]", "[a-c-e]"};
  static const char *const numbers[] = {"0", "1", "-7", "+42", "0x1f", "017", "0x", "-", "2147483648",
      "99999999999999999999",
                                        "-9223372036854775808", "08", "255", "65537", "1e", "1.5", ".5", "-0x10",
                                        "x", "0b1"};
  static const char *const decimals[] = {"1.5", "-2e3", ".25", "3.", "1e", "1e+", "1e+5", ".", "-", "inf", "nan",
      "0x1p3",
                                         "0x", "1e400", "123456789012345678901234", "0.1", "-0", "5e-5x", "infi",
                                         "+.e1"};
  static const char *const words[] = {"abc", "a", "x]", "z-", ",", "", "hello", "]", "\x80\xff", "12ab"};
  add(format, "%");
  if (random_below(12) == 0) {
    add(format, sizes[random_below(10)]);
    add(format, "n");
    return;
  }
  if (random_below(6) == 0) add(format, "*");
  if (random_below(4) == 0) {
    char width[8];
    snprintf(width, sizeof width, "%zu", random_below(12));
    add(format, width);
  }
  switch (random_below(8)) {
  case 0:
  case 1:
  case 2:
  case 3:
    add(format, sizes[random_below(10)]);
    add(format, integers[random_below(6)]);
    add(text, numbers[random_below(20)]);
    break;
  case 4:
    add(format, random_below(2) ? "" : "l");
    add(format, random_below(2) ? "f" : "g");
    add(text, random_below(3) ? decimals[random_below(20)] : numbers[random_below(20)]);
    break;
  case 5:
    add(format, "s");
    add(text, words[random_below(10)]);
    break;
  case 6:
    add(format, "c");
    add(text, words[random_below(10)]);
    break;
  default:
    add(format, sets[random_below(10)]);
    add(text, words[random_below(10)]);
  }
}

static void random_scan(void) {
  static const char *const between[] = {"", "", " ", ",", ":", " , ", "%%", "ab", "\n"};
  char text[256] = "";
  format[0] = 0;
  size_t n_directives = 1 + random_below(PLACES);
  for (size_t i = 0; i < n_directives; i++) {
    size_t spaces = random_below(3) ? 0 : random_below(3);
    while (spaces-- > 0) add(text, random_below(2) ? " " : "\t");
    random_directive(text);
    const char *literal = between[random_below(9)];
    add(format, literal);
    if (random_below(8)) add(text, strcmp(literal, "%%") == 0 ? "%" : literal);
  }
  if (random_below(6) == 0) text[random_below(strlen(text) + 1)] = 0;
  n = strlen(text);
  s = random_string(0, n, "1", 1);
  memcpy(s, text, n);
}

static const char *const EDGES[][2] = {
    {"", "%d"}, {" ", "%d"}, {"", ""}, {"", " "}, {"", "a"}, {"", "%n"}, {"a", "%%"}, {"%", "%%"}, {" %", "%%"},
    {"", "%%"},
    {"", "%c"}, {"", "%s"}, {"  ", "%s"}, {"", "%[a]"}, {"b", "%[a]"}, {"5", "%*d%d"}, {"5", "%d%d"}, {"5 ", "%d %d"},
    {"12345", "%3d%d"}, {"-5", "%1d"}, {"0x5", "%1x"}, {"0x5", "%2x%n"}, {"0x5", "%i"}, {"0xg", "%i%n"}, {"0xg",
    "%x%c"},
    {"12:34", "%d:%d"}, {"12;34", "%d:%d"}, {"1,2,3", "%d,%d,%d"}, {"abc def", "%3c%s"}, {"key=value", "%[^=]=%s"},
    {"0xab", "%4x%n"}, {"+-1", "%d"}, {"300", "%hhd"}, {"-1", "%u"}, {"-1", "%lx"}, {"3.25", "%d.%d"}, {"1 2",
    "%d\n%d"},
    {"99999999999999999999999", "%d"}, {"99999999999999999999999", "%ld"}, {"99999999999999999999999", "%lu"},
    {"ab", "%0c"}, {"12", "%0d"}, {"1e5", "%3lf"}, {"1e5", "%2lf"}, {"1.", "%lf%n"}, {"1.x", "%lf%c"}, {"i", "%lf"},
    {"0b101", "%i%n"}, {"-", "%lf"}, {"]", "%[]]"}, {"B", "%[A-]"}, {"-", "%[A-]"}, {"b", "%[-c]"}, {"a\xff", "%s"},
};

/* For these the real function alone answers. */
static const char *const UNMODELLED[][2] = {
    {"abc", "%p"}, {"0x10", "%p"}, {"12", "%2$d %1$d"}, {"1,000", "%'d"}, {"1.5", "%Lf"}, {"a", "%ls"}, {"^", "%[^]"},
    {"a", "%["}, {"1", "%"}, {"1", "%d%"}, {"1", "%*n%d"}, {"\xc3\xa4", "\xc3\xa4"}, {"1", "%99999999999d"}, {"1",
    "%y"},
};

static void use(const char *text, const char *directives) {
  n = strlen(text);
  s = arena[0] + ARENA_SIZE - n - 1;
  memcpy(s, text, n + 1);
  label(0, s, n + 1);
  strcpy(format, directives);
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  make_arenas();
  for (size_t i = 0; i < sizeof EDGES / sizeof *EDGES; i++) {
    use(EDGES[i][0], EDGES[i][1]);
    compare(true);
  }
  for (size_t i = 0; i < sizeof UNMODELLED / sizeof *UNMODELLED; i++) {
    use(UNMODELLED[i][0], UNMODELLED[i][1]);
    compare(false);
  }
  for (long round = 0; round < rounds; round++) {
    random_scan();
    compare(true);
  }
  if (n_left > n_doubtful / 4) {
    fprintf(stderr, "%lu of %lu scans with decimal numbers were left to glibc\n", n_left, n_doubtful);
    return 1;
  }
  return finish();
}
