/* strtol and its kin.
 *
 * The number is read by an automaton over the bytes of a window whose states are truth values, so the result is one
 * expression over all of them: it tells what any other bytes there would be read as, also if this run found no
 * number. */
#include "models.h"
#include <inttypes.h>

/* The functions of C17 by their own names: headers of newer versions of glibc lead to those of C23. */
long cairn_real_strtol(const char *s, char **end, int base) __asm__("strtol");
unsigned long cairn_real_strtoul(const char *s, char **end, int base) __asm__("strtoul");
long __isoc23_strtol(const char *s, char **end, int base) __attribute__((weak));
unsigned long __isoc23_strtoul(const char *s, char **end, int base) __attribute__((weak));

/* How a number is written. */
struct cairn_notation {
  /* 2 to 36; or 0: as its prefix says. */
  int base;
  /* Whether `0b` is a prefix too, as in C23. */
  bool binary;
  /* Whether a prefix without digits is consumed, as scanf does, or only its zero. */
  bool takes_prefix;
  /* Whether white space comes first. */
  bool skips_space;
};

/* What was read. Everything depends on the input. */
struct cairn_integer {
  unsigned long magnitude;
  bool negative;
  /* The magnitude is larger than any `unsigned long`. */
  bool overflow;
  /* There was a digit. */
  bool matched;
  /* Everything up to the end of the window belongs to the number, or to what precedes it. */
  bool open;
  /* Bytes consumed; 0 if there was no digit. */
  size_t end;
};

/* The value of a digit or letter, or 99. */
static inline unsigned cairn_digit(int c) {
  unsigned digit = (unsigned)c - '0';
  unsigned letter = (unsigned)(c | 0x20) - 'a';
  unsigned above = letter < 26 ? letter + 10 : 99;
  return digit < 10 ? digit : above;
}

/* Reads a number from `n` bytes. */
static struct cairn_integer cairn_read_integer(const char *s, size_t n, struct cairn_notation notation) {
  int base = notation.base;
  bool hexadecimal_prefix = base == 0 || base == 16;
  bool binary_prefix = notation.binary && (base == 0 || base == 2);
  /* Up to this many digits always fit. */
  size_t n_fitting = 0;
  for (unsigned long rest = ULONG_MAX; rest >= (base ? (unsigned)base : 16); rest /= base ? (unsigned)base : 16) {
    n_fitting++;
  }

  struct cairn_integer number = {0};
  /* Where we are: in white space; after a sign; after a leading zero; after a prefix; after other digits. */
  bool in_space = true, in_sign = false, in_zero = false, in_prefix = false, in_digits = false;
  /* What the prefix says if the base is open. */
  bool hexadecimal = false, octal = false, binary = false;

  for (size_t i = 0; i < n; i++) {
    int c = (unsigned char)s[i];
    unsigned digit = cairn_digit(c);
    bool starts = in_space | in_sign;

    unsigned limit = (unsigned)base;
    if (base == 0) {
      limit = binary ? 2 : 10;
      limit = octal ? 8 : limit;
      limit = hexadecimal ? 16 : limit;
    }
    bool taken = (digit < limit) & (starts | in_zero | in_prefix | in_digits);

    if (i >= n_fitting) {
      unsigned long cutoff = ULONG_MAX / (base ? (unsigned)base : 10);
      unsigned long last = ULONG_MAX % (base ? (unsigned)base : 10);
      if (base == 0) {
        cutoff = binary ? ULONG_MAX / 2 : cutoff;
        last = binary ? 1 : last;
        cutoff = octal ? ULONG_MAX / 8 : cutoff;
        last = octal ? 7 : last;
        cutoff = hexadecimal ? ULONG_MAX / 16 : cutoff;
        last = hexadecimal ? 15 : last;
      }
      bool above = (number.magnitude > cutoff) | ((number.magnitude == cutoff) & (digit > last));
      number.overflow |= taken & above;
    }
    unsigned long scaled = number.magnitude * (base ? (unsigned long)base : 10);
    if (base == 0) {
      scaled = binary ? number.magnitude << 1 : scaled;
      scaled = octal ? number.magnitude << 3 : scaled;
      scaled = hexadecimal ? number.magnitude << 4 : scaled;
    }
    number.magnitude = taken ? scaled + digit : number.magnitude;
    number.matched |= taken;
    number.end = taken ? i + 1 : number.end;
    number.negative |= in_space & (c == '-');

    bool prefix = false;
    if (hexadecimal_prefix) {
      bool x = in_zero & ((c | 0x20) == 'x');
      hexadecimal |= x;
      prefix |= x;
    }
    if (binary_prefix) {
      bool b = in_zero & ((c | 0x20) == 'b');
      binary |= b;
      prefix |= b;
    }
    if (notation.takes_prefix) number.end = prefix ? i + 1 : number.end;

    bool zero = starts & (c == '0');
    if (base == 0) octal = (octal | zero) & !prefix;
    bool sign = in_space & ((c == '-') | (c == '+'));
    bool space = notation.skips_space ? in_space & cairn_ascii_space(c) : false;
    in_digits = taken & !zero;
    in_zero = zero;
    in_prefix = prefix;
    in_sign = sign;
    in_space = space;
  }
  number.open = in_space | in_sign | in_zero | in_prefix | in_digits;
  return number;
}

/* How many bytes of `s` to read if `consumed` of them matter in this run: some more, as others could be digits too.
 * `cut` tells that the string goes on after them. */
static size_t cairn_number_window(const char *s, size_t consumed, bool *cut) {
  size_t most = consumed + CAIRN_NUMBER_MARGIN;
  size_t window = cairn_window(s, most);
  *cut = window == most;
  return window;
}

/* White space, and then what the real function consumed. */
static size_t cairn_consumed(const char *s, const char *end) {
  size_t space = strspn(s, " \t\n\v\f\r");
  size_t consumed = (size_t)(end - s);
  return consumed > space ? consumed : space;
}

/* Reads the number at the start of `s`, of which the real function consumed what lies before `end`. False: the real
 * function knows as well, or better, and its answer is a constant for inputs that have these bytes. */
static bool cairn_model_integer(const char *s, const char *end, int base, bool binary, struct cairn_integer *number) {
  bool cut;
  size_t consumed = cairn_consumed(s, end);
  if (base < 0 || base == 1 || base > 36 || !cairn_ascii_locale()) return false;
  if (consumed >= CAIRN_WINDOW) {
    cairn_hold_bytes(s, consumed);
    return false;
  }
  size_t window = cairn_number_window(s, consumed, &cut);
  if (!cairn_is_symbolic(s, window)) return false;
  *number = cairn_read_integer(s, window, (struct cairn_notation){base, binary, false, true});
  if (cut) cairn_hold(!number->open);
  return true;
}

static long cairn_convert(const char *s, char **end, int symbolic_base, bool binary,
                          long (*real)(const char *, char **, int)) {
  s = cairn_settled(s);
  int base = (int)cairn_concrete((size_t)symbolic_base);
  if (SYMBOLIC(symbolic_base)) cairn_hold(symbolic_base == base);
  char *stop = (char *)s;
  struct cairn_integer number;
  int error = errno;
  long answer = real(s, &stop, base);
  if (!cairn_model_integer(s, stop, base, binary, &number)) {
    if (end && base != 1 && base >= 0 && base <= 36) *end = stop;
    return answer;
  }
  if (end) *end = (char *)s + number.end;

  unsigned long most = number.negative ? (unsigned long)LONG_MAX + 1 : LONG_MAX;
  long clamped = number.negative ? LONG_MIN : LONG_MAX;
  unsigned long negated = -number.magnitude;
  long value = (long)(number.negative ? negated : number.magnitude);
  bool overflow = number.overflow | (number.magnitude > most);
  errno = overflow ? ERANGE : error;
  return overflow ? clamped : value;
}

static unsigned long cairn_convert_unsigned(const char *s, char **end, int symbolic_base, bool binary,
                                            unsigned long (*real)(const char *, char **, int)) {
  s = cairn_settled(s);
  int base = (int)cairn_concrete((size_t)symbolic_base);
  if (SYMBOLIC(symbolic_base)) cairn_hold(symbolic_base == base);
  char *stop = (char *)s;
  struct cairn_integer number;
  int error = errno;
  unsigned long answer = real(s, &stop, base);
  if (!cairn_model_integer(s, stop, base, binary, &number)) {
    if (end && base != 1 && base >= 0 && base <= 36) *end = stop;
    return answer;
  }
  if (end) *end = (char *)s + number.end;

  unsigned long negated = -number.magnitude;
  unsigned long value = number.negative ? negated : number.magnitude;
  errno = number.overflow ? ERANGE : error;
  return number.overflow ? ULONG_MAX : value;
}

long cairn_strtol(const char *s, char **end, int base) {
  return cairn_convert(s, end, base, false, cairn_real_strtol);
}

unsigned long cairn_strtoul(const char *s, char **end, int base) {
  return cairn_convert_unsigned(s, end, base, false, cairn_real_strtoul);
}

/* What C23 made of them. Programs that call these were built with a glibc that has them. */
long cairn_isoc23_strtol(const char *s, char **end, int base) {
  return cairn_convert(s, end, base, true, __isoc23_strtol);
}

unsigned long cairn_isoc23_strtoul(const char *s, char **end, int base) {
  return cairn_convert_unsigned(s, end, base, true, __isoc23_strtoul);
}

long cairn_strtol_l(const char *s, char **end, int base, locale_t locale) {
  if (!cairn_ascii_locale() || !cairn_ascii_locale_l(locale)) return strtol_l(s, end, base, locale);
  return cairn_strtol(s, end, base);
}

unsigned long cairn_strtoul_l(const char *s, char **end, int base, locale_t locale) {
  if (!cairn_ascii_locale() || !cairn_ascii_locale_l(locale)) return strtoul_l(s, end, base, locale);
  return cairn_strtoul(s, end, base);
}

int cairn_atoi(const char *s) {
  return (int)cairn_strtol(s, NULL, 10);
}

long cairn_atol(const char *s) {
  return cairn_strtol(s, NULL, 10);
}
