/* snprintf and its kin against glibc: the result and every byte written.
 *
 * What the models leave to the real functions is counted. */
#include "declarations.h"
#include "expect.h"

static char format[128];
static char *s;
static unsigned long number;
static size_t size;

static void describe(void) {
  show("format", format, strlen(format));
  show("s", s, strlen(s) + 1);
  fprintf(stderr, "  number = %ld, size = %zu\n", (long)number, size);
}

enum { ROOM = 2048 };
static char want[ROOM], got[ROOM];

static void fill(void) {
  memset(want, 'x', ROOM);
  memset(got, 'x', ROOM);
}

static unsigned long n_left;

int __real_vsnprintf(char *, size_t, const char *, va_list);
int __real_vsprintf(char *, const char *, va_list);

int __wrap_vsnprintf(char *to, size_t its_size, const char *its_format, va_list arguments) {
  n_left++;
  return __real_vsnprintf(to, its_size, its_format, arguments);
}

int __wrap_vsprintf(char *to, const char *its_format, va_list arguments) {
  n_left++;
  return __real_vsprintf(to, its_format, arguments);
}

/* Whether a model has something to do. */
static bool is_modelled;

/* A format has one directive for a number, then one for a string, then perhaps a number again. */
static bool string_comes_first;

#define CALL(function, ...)                                                                                            \
  (string_comes_first ? function(__VA_ARGS__, format, s, number, number)                                               \
                      : function(__VA_ARGS__, format, number, s, number))

static void compare(void) {
  n_left = 0;
  fill();
  EXPECT("snprintf", CALL(snprintf, want, size), CALL(cairn_snprintf, got, size));
  EXPECT_BYTES("snprintf", want, got, ROOM);
  EXPECT("calls left to snprintf", is_modelled ? 0 : n_left, n_left);
  fill();
  EXPECT("snprintf_chk", CALL(snprintf, want, size), CALL(cairn_snprintf_chk, got, size, 1, ROOM));
  EXPECT_BYTES("snprintf_chk", want, got, ROOM);
  EXPECT("snprintf of nothing", CALL(snprintf, NULL, 0), CALL(cairn_snprintf, NULL, 0));
  n_left = 0;
  fill();
  EXPECT("sprintf", CALL(sprintf, want), CALL(cairn_sprintf, got));
  EXPECT_BYTES("sprintf", want, got, ROOM);
  EXPECT("calls left to sprintf", is_modelled ? 0 : n_left, n_left);
  fill();
  EXPECT("sprintf_chk", CALL(sprintf, want), CALL(cairn_sprintf_chk, got, 1, ROOM));
  EXPECT_BYTES("sprintf_chk", want, got, ROOM);
  char *of_want, *of_got;
  int length = CALL(asprintf, &of_want);
  EXPECT("asprintf", length, CALL(cairn_asprintf, &of_got));
  EXPECT_BYTES("asprintf", of_want, of_got, (size_t)length + 1);
  free(of_got);
  EXPECT("asprintf_chk", length, CALL(cairn_asprintf_chk, &of_got, 1));
  EXPECT_BYTES("asprintf_chk", of_want, of_got, (size_t)length + 1);
  free(of_got);
  free(of_want);
}

static void add(const char *more) {
  strcpy(format + strlen(format), more);
}

static void add_options(void) {
  static const char *const flags[] = {"-", "0", "+", " ", "#"};
  char text[16];
  while (random_below(3) == 0) add(flags[random_below(5)]);
  if (random_below(3) == 0) {
    snprintf(text, sizeof text, "%zu", random_below(30));
    add(text);
  }
  if (random_below(3) == 0) {
    snprintf(text, sizeof text, random_below(8) ? ".%zu" : ".", random_below(30));
    add(text);
  }
}

static void add_number(void) {
  static const char *const sizes[] = {"", "", "hh", "h", "l", "ll", "z", "j", "t"};
  static const char *const kinds[] = {"d", "i", "u", "x", "X", "o", "c"};
  add("%");
  add_options();
  const char *kind = kinds[random_below(7)];
  if (*kind != 'c') add(sizes[random_below(9)]);
  add(kind);
}

static void add_string(void) {
  add("%");
  if (random_below(2)) add_options();
  add("s");
}

static void random_format(void) {
  static const char *const between[] = {"", "", ",", "%%", "a b"};
  format[0] = 0;
  string_comes_first = random_below(2);
  size_t n_directives = 1 + random_below(3);
  for (size_t i = 0; i < n_directives; i++) {
    add(between[random_below(5)]);
    if (i < 2 && (i == 0) == string_comes_first) {
      add_string();
    } else {
      add_number();
    }
  }
  if (random_below(2)) add(between[random_below(5)]);
  /* Now and then something that the real function alone knows. */
  bool unknown = random_below(50) == 0;
  if (unknown) add("%y\xc3");
  number = random_bits() >> random_below(64);
  if (random_below(4) == 0) number = -number;
  if (random_below(8) == 0) number = 0;
  size_t n = random_below(30) ? random_below(12) : random_below(600);
  s = random_string(0, n, "ab%\xff", 4);
  size = random_below(3) ? 1000 : random_below(40);
  values_are_labelled = random_below(2);
  bool has_number = !string_comes_first || n_directives > 1;
  is_modelled = values_are_labelled && has_number && !unknown;
}

/* Sizes and places that come as arguments, and strings that are none. */
static void compare_arguments(void) {
  s = "";
  values_are_labelled = false;
  for (int width = -12; width < 12; width++) {
    for (int precision = -2; precision < 12; precision++) {
      char *text = random_string(0, random_below(10), "ab", 2);
      label(0, text, 20);
      fill();
      EXPECT("snprintf with *", snprintf(want, 100, "<%*.*s|%*.*d>", width, precision, text, width, precision, width),
             cairn_snprintf(got, 100, "<%*.*s|%*.*d>", width, precision, text, width, precision, width));
      EXPECT_BYTES("snprintf with *", want, got, ROOM);
      fill();
      EXPECT("snprintf of null", snprintf(want, 100, "%s%.*s", text, precision, (char *)NULL),
             cairn_snprintf(got, 100, "%s%.*s", text, precision, (char *)NULL));
      EXPECT_BYTES("snprintf of null", want, got, ROOM);
    }
  }
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1000;
  make_arenas();
  compare_arguments();
  for (long round = 0; round < rounds; round++) {
    random_format();
    compare();
  }
  return finish();
}
