/* One way to make a whole format match, as an expression.
 *
 * Where the pieces of a text begin depends on the lengths of those before, which an expression cannot follow in
 * general. So where a scan fails, one *layout* is tried: every number gets the same number of bytes, every word one
 * byte, one space stands where one is needed, and the last number takes what is left. Whether the text has this layout
 * is an expression, and with it what would be stored. That is enough to find an input that matches.
 */
#include "models.h"

/* The longest number in a layout, except at the end. */
#define CAIRN_LAYOUT_DIGITS 10

static bool cairn_is_integer_conversion(char kind) {
  return kind == 'd' || kind == 'i' || kind == 'u' || kind == 'x' || kind == 'X' || kind == 'o';
}

static bool cairn_is_decimal_conversion(char kind) {
  return kind == 'e' || kind == 'f' || kind == 'g' || kind == 'E' || kind == 'G';
}

static bool cairn_is_number_conversion(char kind) {
  return cairn_is_integer_conversion(kind) || cairn_is_decimal_conversion(kind);
}

/* A place in a format, for those who lay it out. */
struct cairn_layout {
  const char *format;
  struct cairn_scan_directive directive;
  /* A space must come before the directive, because another word or number does. */
  bool needs_space;
  /* White space is skipped before it. */
  bool skips;
  /* Nothing follows. */
  bool is_last;
  /* The directive before takes as much as it can. */
  bool after_word;
};

/* Goes to the next directive that is not white space; false at the end. */
static bool cairn_layout_next(struct cairn_layout *layout) {
  bool skips = false;
  do {
    layout->format = cairn_scan_directive(layout->format, &layout->directive);
    skips |= layout->directive.kind == CAIRN_SCAN_SPACE;
  } while (layout->directive.kind == CAIRN_SCAN_SPACE);
  char kind = layout->directive.kind;
  bool is_word = cairn_is_number_conversion(kind) || kind == 's';
  layout->skips = skips || is_word || kind == '%';
  layout->needs_space = layout->after_word && (skips || is_word);
  layout->is_last = layout->format[strspn(layout->format, " \t\n\v\f\r")] == 0;
  if (kind != 'n') layout->after_word = is_word || kind == '[';
  return kind != CAIRN_SCAN_END;
}

/* How many bytes each number but the last may have if there are `n`; 0 if there are too few. */
static size_t cairn_layout_digits(const char *format, size_t n) {
  struct cairn_layout layout = {.format = format};
  size_t n_fixed = 0, n_numbers = 0;
  while (cairn_layout_next(&layout)) {
    const struct cairn_scan_directive *directive = &layout.directive;
    n_fixed += layout.needs_space;
    if (cairn_is_number_conversion(directive->kind)) {
      n_numbers++;
    } else if (directive->kind == 'c') {
      n_fixed += directive->width ? directive->width : 1;
    } else if (directive->kind != 'n') {
      n_fixed++;
    }
  }
  /* What comes after the last byte is looked at too. */
  if (n < n_fixed + n_numbers + 1) return 0;
  size_t digits = n_numbers ? (n - n_fixed - 1) / n_numbers : 1;
  return digits < CAIRN_LAYOUT_DIGITS ? digits : CAIRN_LAYOUT_DIGITS;
}

/* Stores a byte of a text if there is one. */
static void cairn_layout_put(char *to, char c, bool fits) {
  char old = *to;
  *to = fits ? c : old;
}

/* Lays out `n` bytes with so many digits for each number. Returns whether they fit, and stores what they say if so. */
static bool cairn_layout_apply(const char *s, size_t n, const char *format, size_t digits, bool binary,
                               va_list arguments) {
  bool fits = true;
  /* Where to store a part is known before it is known whether all parts fit. */
  va_list places;
  for (int pass = 0; pass < 2; pass++) {
    bool stores = pass == 1;
    struct cairn_layout layout = {.format = format};
    size_t at = 0;
    va_copy(places, arguments);
    while (cairn_layout_next(&layout)) {
      const struct cairn_scan_directive *directive = &layout.directive;
      char kind = directive->kind;
      const char *here = s + at + layout.needs_space;
      bool has_place = kind > CAIRN_SCAN_LITERAL && kind != '%' && !directive->suppressed;
      void *to = has_place ? va_arg(places, void *) : NULL;
      if (layout.needs_space) fits &= cairn_ascii_space((unsigned char)s[at]);
      if (layout.skips && kind != 'n') fits &= !cairn_ascii_space((unsigned char)*here);
      at += layout.needs_space;

      if (cairn_is_number_conversion(kind)) {
        size_t width = directive->width ? directive->width : SIZE_MAX;
        size_t length = digits < width ? digits : width;
        size_t left = n - at < width ? n - at : width;
        /* One byte more shows that the number ends, unless its width says so. */
        size_t window = layout.is_last ? left : length < width ? length + 1 : length;
        bool matched;
        size_t end;
        if (cairn_is_integer_conversion(kind)) {
          struct cairn_integer number = cairn_read_integer(here, window, cairn_scan_notation(kind, binary));
          matched = number.matched;
          end = number.end;
          unsigned long value = cairn_scan_value(number, kind == 'd' || kind == 'i', stores && fits);
          if (stores && to) cairn_scan_store(to, directive->size, value, fits);
        } else {
          struct cairn_decimal number = cairn_read_decimal(here, window, false, true);
          matched = number.matched & cairn_is_exact(number);
          end = number.end;
          if (stores && to) cairn_scan_store_decimal(to, directive->size, cairn_decimal_value(number), fits);
        }
        fits &= matched;
        if (!layout.is_last) fits &= end == length;
        at += length;
      } else if (kind == 'n') {
        if (stores && to) cairn_scan_store(to, directive->size, at, fits);
      } else if (kind == CAIRN_SCAN_LITERAL || kind == '%') {
        fits &= *here == (kind == '%' ? '%' : directive->literal);
        at++;
      } else {
        size_t length = kind == 'c' && directive->width ? directive->width : 1;
        for (size_t i = 0; i < length; i++) {
          fits &= here[i] != 0;
          if (kind == '[') fits &= cairn_scan_takes(directive, (unsigned char)here[i]);
          if (stores && to) cairn_layout_put((char *)to + i, here[i], fits);
        }
        unsigned char next = (unsigned char)here[length];
        if (kind == 's' && directive->width != 1) fits &= (next == 0) | cairn_ascii_space(next);
        if (kind == '[' && directive->width != 1) fits &= (next == 0) | !cairn_scan_takes(directive, next);
        if (kind != 'c' && stores && to) cairn_layout_put((char *)to + length, 0, fits);
        at += length;
      }
    }
    va_end(places);
  }
  return fits;
}
