/* snprintf and its kin, into memory.
 *
 * Digits are expressions over the number; how many there are is a path, and so is the length of a string, except
 * where `%s` ends the format. Then the result is an expression that also tells of longer strings, while memory has
 * the bytes of this one.
 *
 * The real function answers where nothing is symbolic and for all directives that are not `d i u x X o c s %`.
 * Functions that write to files are not modelled: nothing looks at what they return, and their digits would only
 * leave paths. */
#include "models.h"

/* One conversion. */
struct cairn_format_directive {
  bool left, plus, blank, alternate, zero;
  int width;
  /* -1: none. */
  int precision;
  /* The size of an integer in bytes. */
  int size;
  char kind;
};

/* Where output goes, and how much there was. */
struct cairn_output {
  char *to;
  size_t size;
  size_t length;
};

static void cairn_put(struct cairn_output *output, char c) {
  if (output->length + 1 < output->size) output->to[output->length] = c;
  output->length++;
}

static void cairn_put_many(struct cairn_output *output, char c, int n) {
  for (; n > 0; n--) cairn_put(output, c);
}

/* Reads the conversion after a `%`, taking `*` from the arguments, and returns what follows it; null for one that is
 * not modelled. */
static const char *cairn_format_directive(const char *format, va_list *arguments,
                                          struct cairn_format_directive *directive) {
  *directive = (struct cairn_format_directive){.precision = -1, .size = 4};
  for (;; format++) {
    if (*format == '-') {
      directive->left = true;
    } else if (*format == '+') {
      directive->plus = true;
    } else if (*format == ' ') {
      directive->blank = true;
    } else if (*format == '#') {
      directive->alternate = true;
    } else if (*format == '0') {
      directive->zero = true;
    } else {
      break;
    }
  }
  if (*format == '*') {
    format++;
    int width = va_arg(*arguments, int);
    if (SYMBOLIC(width) || width == INT_MIN) return NULL;
    if (width < 0) directive->left = true;
    directive->width = width < 0 ? -width : width;
  }
  for (; cairn_in_range(*format, '0', '9'); format++) {
    directive->width = directive->width * 10 + (*format - '0');
    if (directive->width > 1 << 20) return NULL;
  }
  if (*format == '.') {
    format++;
    directive->precision = 0;
    if (*format == '*') {
      format++;
      int precision = va_arg(*arguments, int);
      if (SYMBOLIC(precision)) return NULL;
      directive->precision = precision < 0 ? -1 : precision;
    }
    for (; cairn_in_range(*format, '0', '9'); format++) {
      directive->precision = directive->precision * 10 + (*format - '0');
      if (directive->precision > 1 << 20) return NULL;
    }
  }
  bool modified = true;
  if (format[0] == 'h' && format[1] == 'h') {
    directive->size = 1;
    format += 2;
  } else if (format[0] == 'h') {
    directive->size = 2;
    format++;
  } else if (format[0] == 'l' && format[1] == 'l') {
    directive->size = 8;
    format += 2;
  } else if (format[0] == 'l' || format[0] == 'z' || format[0] == 'j' || format[0] == 't') {
    directive->size = 8;
    format++;
  } else {
    modified = false;
  }
  directive->kind = *format;
  switch (*format) {
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o':
    return format + 1;
  case 'c':
  case 's':
    return modified ? NULL : format + 1;
  case '%':
    return format[-1] == '%' ? format + 1 : NULL;
  default:
    return NULL;
  }
}

static bool cairn_is_signed_conversion(char kind) {
  return kind == 'd' || kind == 'i';
}

/* Takes an integer from the arguments, cut to the size of its directive. */
static unsigned long cairn_format_integer(const struct cairn_format_directive *directive, va_list *arguments) {
  bool is_signed = cairn_is_signed_conversion(directive->kind);
  if (directive->size == 8) return va_arg(*arguments, unsigned long);
  int value = va_arg(*arguments, int);
  switch (directive->size) {
  case 1:
    return is_signed ? (unsigned long)(signed char)value : (unsigned char)value;
  case 2:
    return is_signed ? (unsigned long)(short)value : (unsigned short)value;
  default:
    return is_signed ? (unsigned long)value : (unsigned)value;
  }
}

static void cairn_put_integer(struct cairn_output *output, const struct cairn_format_directive *directive,
                              unsigned long value) {
  char kind = directive->kind;
  unsigned base = kind == 'o' ? 8 : kind == 'x' || kind == 'X' ? 16 : 10;
  bool negative = cairn_is_signed_conversion(kind) && (long)value < 0;
  unsigned long rest = negative ? -value : value;
  bool is_zero = rest == 0;

  char digits[24];
  int n_digits = 0;
  if (!is_zero || directive->precision != 0) {
    /* One condition for each digit: whether there is another. */
    do {
      unsigned digit = (unsigned)(rest % base);
      char letter = (char)((kind == 'X' ? 'A' : 'a') + (int)digit - 10);
      char numeral = (char)('0' + digit);
      digits[n_digits++] = base == 16 && digit >= 10 ? letter : numeral;
      rest /= base;
    } while (rest != 0);
  }
  int n_zeros = directive->precision > n_digits ? directive->precision - n_digits : 0;
  if (kind == 'o' && directive->alternate && n_zeros == 0 && (n_digits == 0 || !is_zero)) n_zeros = 1;

  char sign = 0;
  if (cairn_is_signed_conversion(kind)) sign = negative ? '-' : directive->plus ? '+' : directive->blank ? ' ' : 0;
  bool prefix = base == 16 && directive->alternate && !is_zero;
  int length = n_digits + n_zeros + (sign != 0) + 2 * prefix;
  int padding = directive->width > length ? directive->width - length : 0;
  bool zero_padded = directive->zero && !directive->left && directive->precision < 0;

  if (!directive->left && !zero_padded) cairn_put_many(output, ' ', padding);
  if (sign) cairn_put(output, sign);
  if (prefix) {
    cairn_put(output, '0');
    cairn_put(output, kind);
  }
  if (zero_padded) cairn_put_many(output, '0', padding);
  cairn_put_many(output, '0', n_zeros);
  while (n_digits > 0) cairn_put(output, digits[--n_digits]);
  if (directive->left) cairn_put_many(output, ' ', padding);
}

static void cairn_put_string(struct cairn_output *output, const struct cairn_format_directive *directive,
                             const char *s) {
  size_t most = directive->precision < 0 ? SIZE_MAX : (size_t)directive->precision;
  if (s == NULL) s = most < 6 ? "" : "(null)";
  size_t length = cairn_pinned_length_within(s, most);
  int padding = (size_t)directive->width > length ? directive->width - (int)length : 0;
  if (!directive->left) cairn_put_many(output, ' ', padding);
  for (size_t i = 0; i < length; i++) cairn_put(output, s[i]);
  if (directive->left) cairn_put_many(output, ' ', padding);
}

/* The last string of a format: its bytes with their end, and how long it could be. */
static int cairn_put_last_string(struct cairn_output *output, const char *s) {
  size_t before = output->length;
  size_t length = strlen(s);
  for (size_t i = 0; i < length; i++) cairn_put(output, s[i]);
  if (output->length < output->size) {
    output->to[output->length] = s[length];
  } else if (output->size > 0) {
    output->to[output->size - 1] = 0;
  }
  return (int)(before + cairn_strlen(s));
}

/* Whether a directive that is not modelled is given a number with a label. */
static bool cairn_is_float_symbolic(const char *directive, va_list *arguments) {
  directive += strspn(directive, "-+ #0123456789.'");
  if (*directive == 0 || strchr("aAeEfFgG", *directive) == NULL) return false;
  double value = va_arg(*arguments, double);
  return SYMBOLIC(value);
}

/* Whether everything is modelled and something symbolic. What is symbolic and not modelled is named. */
static bool cairn_is_format_modelled(const char *format, va_list *arguments) {
  bool symbolic = false;
  if (cairn_is_symbolic(format, strlen(format) + 1)) return false;
  while (*format != 0) {
    if ((unsigned char)*format >= 0x80) return false;
    if (*format++ != '%') continue;
    struct cairn_format_directive directive;
    const char *text = format;
    format = cairn_format_directive(format, arguments, &directive);
    if (format == NULL) {
      if (symbolic | cairn_is_float_symbolic(text, arguments)) cairn_left_alone("sprintf");
      return false;
    }
    if (directive.kind == 's') {
      const char *s = cairn_settled(va_arg(*arguments, const char *));
      size_t most = directive.precision < 0 ? SIZE_MAX : (size_t)directive.precision;
      if (s && cairn_is_symbolic(s, strnlen(s, most) + 1)) symbolic = true;
    } else if (directive.kind != '%') {
      unsigned long value = directive.size == 8 ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned);
      if (SYMBOLIC(value)) symbolic = true;
    }
  }
  return symbolic;
}

static int cairn_format(struct cairn_output *output, const char *format, va_list *arguments) {
  while (*format != 0) {
    if (*format != '%') {
      cairn_put(output, *format++);
      continue;
    }
    struct cairn_format_directive directive;
    format = cairn_format_directive(format + 1, arguments, &directive);
    switch (directive.kind) {
    case '%':
      cairn_put(output, '%');
      break;
    case 'c': {
      char c = (char)va_arg(*arguments, int);
      if (!directive.left) cairn_put_many(output, ' ', directive.width - 1);
      cairn_put(output, c);
      if (directive.left) cairn_put_many(output, ' ', directive.width - 1);
      break;
    }
    case 's': {
      const char *s = cairn_settled(va_arg(*arguments, const char *));
      bool plain = directive.width == 0 && directive.precision < 0;
      if (*format == 0 && plain && s && strlen(s) < CAIRN_WINDOW) return cairn_put_last_string(output, s);
      cairn_put_string(output, &directive, s);
      break;
    }
    default:
      cairn_put_integer(output, &directive, cairn_format_integer(&directive, arguments));
    }
  }
  if (output->size > 0) output->to[output->length < output->size ? output->length : output->size - 1] = 0;
  return (int)output->length;
}

static bool cairn_formats(const char *format, va_list arguments) {
  va_list copy;
  va_copy(copy, arguments);
  bool modelled = cairn_is_format_modelled(format, &copy);
  va_end(copy);
  return modelled;
}

static int cairn_format_into(char *to, size_t size, const char *format, va_list arguments) {
  struct cairn_output output = {to, size, 0};
  va_list copy;
  va_copy(copy, arguments);
  int length = cairn_format(&output, format, &copy);
  va_end(copy);
  return length;
}

int cairn_vsnprintf(char *to, size_t size, const char *format, va_list arguments) {
  to = cairn_settled(to);
  format = cairn_settled(format);
  if (!cairn_formats(format, arguments)) return vsnprintf(to, size, format, arguments);
  return cairn_format_into(to, size, format, arguments);
}

int cairn_snprintf(char *to, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = cairn_vsnprintf(to, size, format, arguments);
  va_end(arguments);
  return length;
}

int cairn_vsprintf(char *to, const char *format, va_list arguments) {
  to = cairn_settled(to);
  format = cairn_settled(format);
  if (!cairn_formats(format, arguments)) return vsprintf(to, format, arguments);
  return cairn_format_into(to, SIZE_MAX, format, arguments);
}

int cairn_sprintf(char *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = cairn_vsprintf(to, format, arguments);
  va_end(arguments);
  return length;
}

int cairn_vasprintf(char **to, const char *format, va_list arguments) {
  format = cairn_settled(format);
  if (!cairn_formats(format, arguments)) return vasprintf(to, format, arguments);
  va_list copy;
  va_copy(copy, arguments);
  int size = vsnprintf(NULL, 0, format, copy) + 1;
  va_end(copy);
  *to = malloc((size_t)size);
  if (*to == NULL) return -1;
  return cairn_format_into(*to, (size_t)size, format, arguments);
}

int cairn_asprintf(char **to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = cairn_vasprintf(to, format, arguments);
  va_end(arguments);
  return length;
}
