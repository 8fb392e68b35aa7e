/* strtod and its kin.
 *
 * The digits make an integer and a power of ten, both expressions over the bytes of a window; a product or quotient
 * of the two is the value. That is right where both are exact doubles, up to 2^53 and 10^22, or where only the power
 * has to be rounded; that they are becomes a condition. A `float` is rounded from there. The real function is always asked too: what differs from its answer by
 * a bit (long numbers, infinities, hexadecimal digits, other decimal points, other rounding modes) is not used; the
 * bytes are made conditions and the real value returned as a constant. */
#include "models.h"

/* What was read. Everything depends on the input. */
struct cairn_decimal {
  unsigned long mantissa;
  /* Of ten. */
  int exponent;
  /* There are more digits than the mantissa holds. */
  bool overflow;
  bool negative;
  /* There was a digit before any exponent. */
  bool matched;
  /* As in `cairn_integer`. */
  bool open;
  /* Bytes consumed; 0 if there was no digit. */
  size_t end;
};

/* Reads a decimal number from `n` bytes. With `takes_exponent`, the letter and sign of an exponent without digits are
 * consumed, as scanf does. */
static struct cairn_decimal cairn_read_decimal(const char *s, size_t n, bool skips_space, bool takes_exponent) {
  struct cairn_decimal number = {0};
  /* Where we are: in white space; after a sign; after digits; after a point that came first; after a point and
   * digits; after the letter of an exponent; after its sign; after its digits. */
  bool in_space = true, in_sign = false, in_whole = false, in_point = false, in_fraction = false;
  bool in_letter = false, in_exponent_sign = false, in_exponent = false;
  bool exponent_negative = false;
  int exponent = 0, fraction = 0;

  for (size_t i = 0; i < n; i++) {
    int c = (unsigned char)s[i];
    unsigned digit = (unsigned)c - '0';
    bool is_digit = digit < 10;
    bool is_sign = (c == '+') | (c == '-');
    bool starts = in_space | in_sign;

    bool whole = is_digit & (starts | in_whole);
    bool fractional = is_digit & (in_point | in_fraction);
    bool taken = whole | fractional;
    /* Fewer digits always fit. */
    if (i >= 19) number.overflow |= taken & (number.mantissa > (ULONG_MAX - 9) / 10);
    number.mantissa = taken ? number.mantissa * 10 + digit : number.mantissa;
    number.matched |= taken;
    fraction += fractional;

    bool point = (c == '.') & (starts | in_whole);
    bool after_digits = (c == '.') & in_whole;
    bool letter = ((c | 0x20) == 'e') & (in_whole | in_fraction);
    bool exponent_sign = is_sign & in_letter;
    bool exponent_digit = is_digit & (in_letter | in_exponent_sign | in_exponent);
    exponent_negative |= in_letter & (c == '-');
    /* Nobody needs to know how large a large one is. */
    exponent = exponent_digit & (exponent < 1000) ? exponent * 10 + (int)digit : exponent;

    bool consumed = taken | after_digits | exponent_digit;
    if (takes_exponent) consumed |= letter | exponent_sign;
    number.end = consumed ? i + 1 : number.end;
    number.negative |= in_space & (c == '-');

    bool sign = in_space & is_sign;
    in_space = skips_space ? in_space & cairn_ascii_space(c) : false;
    in_sign = sign;
    in_whole = whole;
    in_point = point & !after_digits;
    in_fraction = fractional | after_digits;
    in_letter = letter;
    in_exponent_sign = exponent_sign;
    in_exponent = exponent_digit;
  }
  int negated = -exponent;
  number.exponent = (exponent_negative ? negated : exponent) - fraction;
  number.open = in_space | in_sign | in_whole | in_point | in_fraction | in_letter | in_exponent_sign | in_exponent;
  return number;
}

/* Powers of ten that are exact. */
#define CAIRN_EXACT_POWER 22
/* The largest that no single digit makes infinite. */
#define CAIRN_LARGEST_POWER 307

#define TEN(n)                                                                                                         \
  1e##n##0, 1e##n##1, 1e##n##2, 1e##n##3, 1e##n##4, 1e##n##5, 1e##n##6, 1e##n##7, 1e##n##8, 1e##n##9
static const double cairn_powers[CAIRN_LARGEST_POWER + 1] = {
    TEN(0),  TEN(1),  TEN(2),  TEN(3),  TEN(4),  TEN(5),  TEN(6),  TEN(7),  TEN(8),  TEN(9),
    TEN(10), TEN(11), TEN(12), TEN(13), TEN(14), TEN(15), TEN(16), TEN(17), TEN(18), TEN(19),
    TEN(20), TEN(21), TEN(22), TEN(23), TEN(24), TEN(25), TEN(26), TEN(27), TEN(28), TEN(29),
    1e300,   1e301,   1e302,   1e303,   1e304,   1e305,   1e306,   1e307,
};
#undef TEN

/* The number as a double, rounded twice at most. Exponents that are too large count as the largest. */
static double cairn_decimal_value(struct cairn_decimal number) {
  int below = -number.exponent;
  unsigned size = (unsigned)(number.exponent < 0 ? below : number.exponent);
  double power = cairn_powers[size < CAIRN_LARGEST_POWER ? size : CAIRN_LARGEST_POWER];
  double mantissa = (double)number.mantissa;
  double product = mantissa * power, quotient = mantissa / power;
  double value = number.exponent < 0 ? quotient : product;
  double negated = -value;
  return number.negative & number.matched ? negated : value;
}

/* Whether the value is rounded only once, so that it is right, and finite as a float too. */
static bool cairn_is_exact(struct cairn_decimal number) {
  return !number.overflow & (number.mantissa <= 1ul << 53) &
         cairn_in_range(number.exponent, -CAIRN_EXACT_POWER, CAIRN_EXACT_POWER);
}

/* Whether it is right as a double: where the power has been rounded, one of these digits rounds nothing more. */
static bool cairn_is_right(struct cairn_decimal number) {
  unsigned long digit = number.mantissa;
  bool doubles = (digit == 1) | (digit == 2) | (digit == 4) | (digit == 8);
  return cairn_is_exact(number) | (doubles & cairn_in_range(number.exponent, 0, CAIRN_LARGEST_POWER));
}

/* Makes that a condition, if it is the case in this run. */
static void cairn_hold_exact(bool exact) {
  if (cairn_concrete(exact)) cairn_hold(exact);
}

/* Whether two values have the same bits, without a record. */
static bool cairn_is_double(double model, double real) {
  uint64_t bits_of_model, bits_of_real;
  memcpy(&bits_of_model, &model, sizeof model);
  memcpy(&bits_of_real, &real, sizeof real);
  return cairn_concrete(bits_of_model) == cairn_concrete(bits_of_real);
}

static bool cairn_is_float(float model, float real) {
  uint32_t bits_of_model, bits_of_real;
  memcpy(&bits_of_model, &model, sizeof model);
  memcpy(&bits_of_real, &real, sizeof real);
  return cairn_concrete(bits_of_model) == cairn_concrete(bits_of_real);
}

/* Reads the number at the start of `s`, of which the real function consumed what lies before `end`. False: the real
 * function knows as well, or better, and its answer is a constant for inputs that have these bytes. */
static bool cairn_model_decimal(const char *s, const char *end, struct cairn_decimal *number) {
  bool cut;
  size_t consumed = cairn_consumed(s, end);
  if (!cairn_ascii_locale()) return false;
  if (consumed >= CAIRN_WINDOW) {
    cairn_hold_bytes(s, consumed);
    return false;
  }
  size_t window = cairn_number_window(s, consumed, &cut);
  if (!cairn_is_symbolic(s, window)) return false;
  *number = cairn_read_decimal(s, window, true, false);
  if (cairn_concrete(number->end) != (size_t)(end - s) || (cut && cairn_concrete(number->open))) {
    cairn_hold_bytes(s, consumed);
    return false;
  }
  if (cut) cairn_hold(!number->open);
  return true;
}

double cairn_strtod(const char *s, char **end) {
  s = cairn_settled(s);
  char *stop;
  struct cairn_decimal number;
  double real = strtod(s, &stop);
  if (end) *end = stop;
  if (!cairn_model_decimal(s, stop, &number)) return real;
  double model = cairn_decimal_value(number);
  if (!cairn_is_double(model, real)) {
    cairn_hold_bytes(s, cairn_consumed(s, stop));
    return real;
  }
  cairn_hold_exact(cairn_is_right(number));
  if (end) *end = (char *)s + number.end;
  return model;
}

float cairn_strtof(const char *s, char **end) {
  s = cairn_settled(s);
  char *stop;
  struct cairn_decimal number;
  float real = strtof(s, &stop);
  if (end) *end = stop;
  if (!cairn_model_decimal(s, stop, &number)) return real;
  float model = (float)cairn_decimal_value(number);
  if (!cairn_is_float(model, real)) {
    cairn_hold_bytes(s, cairn_consumed(s, stop));
    return real;
  }
  cairn_hold_exact(cairn_is_exact(number));
  if (end) *end = (char *)s + number.end;
  return model;
}


double cairn_atof(const char *s) {
  return cairn_strtod(s, NULL);
}
