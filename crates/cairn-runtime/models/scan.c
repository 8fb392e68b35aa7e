/* sscanf.
 *
 * The format is followed directive by directive. What matched leaves a path, so that the next directive has a place
 * to start; the value of a number is an expression over its digits. The last number, and the first directive that
 * failed, leave no path: the result is an expression that tells what other bytes would have led to. Where a
 * directive failed in this run and others come after it, the expression knows one layout with which all would match.
 * If the input is too short for one, the guess is that the others match, which leads on one directive at a time.
 *
 * Whatever is not modelled (other directives, positions, `%m`, wide characters, numbers like `nan` and `0x1p3`) is
 * left to the real function, which has seen the same arguments before. */
#include "models.h"

int cairn_real_vsscanf(const char *s, const char *format, va_list arguments) __asm__("vsscanf");
int __isoc99_vsscanf(const char *s, const char *format, va_list arguments);
int __isoc23_vsscanf(const char *s, const char *format, va_list arguments) __attribute__((weak));

/* How far a scan has come. */
struct cairn_scan {
  /* What is left of the string. */
  const char *s;
  /* Assignments so far, and in all if everything matches. */
  int done, total;
  /* The result, once it is clear. */
  int result;
  /* How many bytes were read, for who goes on behind them. */
  const char *begin;
  size_t consumed;
  /* The scan fails in this run, and there is a layout that makes it succeed. Then conditions are not left in the
   * trace, but joined here: they need not hold where the layout does. */
  bool has_layout;
  bool shape;
};

/* Notes a condition of the path. */
static void cairn_scan_hold(struct cairn_scan *scan, bool condition) {
  if (scan->has_layout) {
    scan->shape &= condition;
  } else {
    cairn_hold(condition);
  }
}

/* Skips white space. */
static void cairn_scan_space(struct cairn_scan *scan) {
  for (;;) {
    bool space = cairn_ascii_space((unsigned char)*scan->s);
    bool goes_on = cairn_concrete(space);
    cairn_scan_hold(scan, space == goes_on);
    if (!goes_on) return;
    scan->s++;
  }
}

enum cairn_scan_step { CAIRN_SCAN_GOES_ON, CAIRN_SCAN_IS_OVER, CAIRN_SCAN_GIVES_UP };

/* Ends a scan at a directive that `matched` in other inputs, or in this one too if it is the last, and assigns so
 * many places. It has read `length` bytes; `ended` tells that the string ended before it. */
static enum cairn_scan_step cairn_scan_ends(struct cairn_scan *scan, bool matched, bool ended, bool is_last,
                                            int assigned, size_t length) {
  scan->consumed = (size_t)(scan->s - scan->begin) + length;
  int at_end = scan->done ? scan->done : EOF;
  int failed = ended ? at_end : scan->done;
  /* Without a layout, the guess is that what follows would match. */
  int if_matched = is_last || scan->has_layout ? scan->done + assigned : scan->total;
  scan->result = matched ? if_matched : failed;
  return CAIRN_SCAN_IS_OVER;
}

/* Expects a character. */
static enum cairn_scan_step cairn_scan_literal(struct cairn_scan *scan, char literal) {
  char c = *scan->s;
  if (cairn_concrete((unsigned char)c) != (unsigned char)literal) {
    return cairn_scan_ends(scan, c == literal, c == 0, false, 0, c == literal ? 1 : 0);
  }
  cairn_scan_hold(scan, c == literal);
  scan->s++;
  return CAIRN_SCAN_GOES_ON;
}

/* How many bytes of a string a number may cover. */
static size_t cairn_scan_window(const char *s, size_t width, bool *cut) {
  size_t number = strspn(s, "+-0123456789abcdefABCDEFxX.");
  size_t window = cairn_number_window(s, number, cut);
  if (width == 0 || width > window) return window;
  *cut = false;
  return width;
}

static enum cairn_scan_step cairn_scan_integer(struct cairn_scan *scan, const struct cairn_scan_directive *directive,
                                               bool is_last, bool binary, void *to) {
  char kind = directive->kind;
  bool cut;
  size_t window = cairn_scan_window(scan->s, directive->width, &cut);
  if (window > CAIRN_WINDOW + CAIRN_NUMBER_MARGIN) return CAIRN_SCAN_GIVES_UP;
  struct cairn_integer number = cairn_read_integer(scan->s, window, cairn_scan_notation(kind, binary));
  if (cut && cairn_concrete(number.open)) return CAIRN_SCAN_GIVES_UP;
  if (cut) cairn_scan_hold(scan, !number.open);

  bool ended = scan->s[0] == 0;
  size_t end = cairn_concrete(number.end);
  bool goes_on = !is_last && cairn_concrete(number.matched);
  if (goes_on) cairn_scan_hold(scan, number.matched & (number.end == end));

  bool is_signed = kind == 'd' || kind == 'i';
  unsigned long value = cairn_scan_value(number, is_signed, true);
  int assigned = !directive->suppressed;
  if (assigned) cairn_scan_store(to, directive->size, value, goes_on ? true : number.matched);
  if (!goes_on) {
    /* Where there is no number, a sign is read all the same. */
    bool is_signed_alone = (scan->s[0] == '+') | (scan->s[0] == '-');
    size_t read = number.matched ? number.end : (size_t)is_signed_alone;
    return cairn_scan_ends(scan, number.matched, ended, is_last, assigned, read);
  }
  scan->done += assigned;
  scan->s += end;
  return CAIRN_SCAN_GOES_ON;
}

static enum cairn_scan_step cairn_scan_decimal(struct cairn_scan *scan, const struct cairn_scan_directive *directive,
                                               bool is_last, void *to) {
  /* Infinities and hexadecimal numbers begin like this; other decimal points are for the real function too. */
  const char *first = scan->s;
  if (strspn(first, "+-") > 0) first++;
  bool hexadecimal = strspn(first, "0") > 0 && strspn(first + 1, "xX") > 0;
  if (strspn(first, "iInN") > 0 || hexadecimal || strcmp(localeconv()->decimal_point, ".") != 0) {
    return CAIRN_SCAN_GIVES_UP;
  }
  bool cut;
  size_t window = cairn_scan_window(scan->s, directive->width, &cut);
  if (window > CAIRN_WINDOW + CAIRN_NUMBER_MARGIN) return CAIRN_SCAN_GIVES_UP;
  struct cairn_decimal number = cairn_read_decimal(scan->s, window, false, true);
  if (cut && cairn_concrete(number.open)) return CAIRN_SCAN_GIVES_UP;
  if (cut) cairn_scan_hold(scan, !number.open);

  bool ended = scan->s[0] == 0;
  size_t end = cairn_concrete(number.end);
  bool matched = cairn_concrete(number.matched);
  bool goes_on = !is_last && matched;
  if (goes_on) cairn_scan_hold(scan, number.matched & (number.end == end));

  double model = cairn_decimal_value(number);
  if (matched) {
    /* The real conversion of exactly these bytes decides. */
    char bytes[2 * CAIRN_WINDOW + 1];
    if (end >= sizeof bytes) return CAIRN_SCAN_GIVES_UP;
    memcpy(bytes, scan->s, end);
    bytes[end] = 0;
    double real = directive->size == 8 ? strtod(bytes, NULL) : (double)strtof(bytes, NULL);
    bool same = directive->size == 8 ? cairn_is_double(model, real) : cairn_is_float((float)model, (float)real);
    if (same) {
      bool exact = cairn_is_exact(number);
      if (cairn_concrete(exact)) cairn_scan_hold(scan, exact);
    } else {
      cairn_hold_bytes(scan->s, end);
      model = real;
    }
  }
  int assigned = !directive->suppressed;
  if (assigned) cairn_scan_store_decimal(to, directive->size, model, goes_on ? true : number.matched);
  if (!goes_on) {
    /* Where there is no number, a sign is read all the same. */
    bool is_signed_alone = (scan->s[0] == '+') | (scan->s[0] == '-');
    size_t read = number.matched ? number.end : (size_t)is_signed_alone;
    return cairn_scan_ends(scan, number.matched, ended, is_last, assigned, read);
  }
  scan->done += assigned;
  scan->s += end;
  return CAIRN_SCAN_GOES_ON;
}

/* `%c`, `%s` and `%[`. Their bytes are a path; whether there is a first one is not, where the scan ends with it. */
static enum cairn_scan_step cairn_scan_text(struct cairn_scan *scan, const struct cairn_scan_directive *directive,
                                            bool is_last, char *to) {
  char kind = directive->kind;
  size_t width = directive->width ? directive->width : kind == 'c' ? 1 : SIZE_MAX;
  size_t length = 0;
  bool first_taken = false;
  while (length < width) {
    unsigned char c = (unsigned char)scan->s[length];
    bool taken = c != 0;
    if (kind == 's') taken &= !cairn_ascii_space(c);
    if (kind == '[') taken &= cairn_scan_takes(directive, c);
    if (length == 0) first_taken = taken;
    bool goes_on = cairn_concrete(taken);
    if (length > 0 || (goes_on && !is_last)) cairn_scan_hold(scan, taken == goes_on);
    if (!goes_on) break;
    if (!directive->suppressed) to[length] = (char)c;
    length++;
  }
  bool ended = scan->s[0] == 0;
  int assigned = !directive->suppressed;
  if (length == 0) return cairn_scan_ends(scan, first_taken, ended, is_last, assigned, first_taken ? 1 : 0);
  if (assigned && kind != 'c') to[length] = 0;
  if (is_last) return cairn_scan_ends(scan, first_taken, ended, is_last, assigned, first_taken ? length : 0);
  scan->done += assigned;
  scan->s += length;
  return CAIRN_SCAN_GOES_ON;
}

/* Carries out one directive. White space that the format asked for earlier is skipped here, as glibc does. */
static enum cairn_scan_step cairn_scan_step(struct cairn_scan *scan, const struct cairn_scan_directive *directive,
                                            bool is_last, bool binary, bool skips, void *to) {
  char kind = directive->kind;
  if (skips || (kind != 'c' && kind != '[' && kind != 'n' && kind != CAIRN_SCAN_LITERAL)) {
    cairn_scan_space(scan);
  }
  switch (kind) {
  case CAIRN_SCAN_LITERAL:
    return cairn_scan_literal(scan, directive->literal);
  case '%':
    return cairn_scan_literal(scan, '%');
  case 'c':
  case 's':
  case '[':
    return cairn_scan_text(scan, directive, is_last, to);
  case 'e':
  case 'f':
  case 'g':
  case 'E':
  case 'G':
    return cairn_scan_decimal(scan, directive, is_last, to);
  default:
    return cairn_scan_integer(scan, directive, is_last, binary, to);
  }
}

/* Follows the format, up to its end or to the first directive that fails; false if the real function should do it. */
static bool cairn_scan_follow(struct cairn_scan *scan, const char *format, bool binary, va_list arguments) {
  const char *begin = scan->s;
  bool skips = false;
  for (;;) {
    struct cairn_scan_directive directive;
    format = cairn_scan_directive(format, &directive);
    if (directive.kind == CAIRN_SCAN_END) break;
    if (directive.kind == CAIRN_SCAN_SPACE) {
      skips = true;
      continue;
    }
    bool has_place = directive.kind > CAIRN_SCAN_LITERAL && directive.kind != '%' && !directive.suppressed;
    void *to = has_place ? va_arg(arguments, void *) : NULL;
    if (directive.kind == 'n') {
      if (skips) cairn_scan_space(scan);
      skips = false;
      cairn_scan_store(to, directive.size, (unsigned long)(scan->s - begin), true);
      continue;
    }
    bool is_last = format[strspn(format, " \t\n\v\f\r")] == 0;
    enum cairn_scan_step step = cairn_scan_step(scan, &directive, is_last, binary, skips, to);
    skips = false;
    if (step == CAIRN_SCAN_GIVES_UP) return false;
    if (step == CAIRN_SCAN_IS_OVER) return true;
  }
  scan->result = scan->done;
  scan->consumed = (size_t)(scan->s - begin);
  return true;
}

/* The result of a scan that is `answer` in this run, and how many bytes it reads; false if the real function should do
 * it. */
static bool cairn_scan(const char *s, const char *format, bool binary, int answer, va_list arguments, int *result,
                       size_t *consumed) {
  struct cairn_scan scan = {.s = s, .begin = s, .total = cairn_scan_total(format), .shape = true};
  if (scan.total < 0) return false;

  /* A single directive needs no layout: what it reads begins where it begins in this run. */
  struct cairn_scan_directive first;
  bool is_single = *cairn_scan_directive(format, &first) == 0;
  size_t n = cairn_window(s, CAIRN_WINDOW);
  size_t digits = answer == scan.total || is_single ? 0 : cairn_layout_digits(format, n);
  scan.has_layout = digits > 0;

  va_list again;
  va_copy(again, arguments);
  bool followed = cairn_scan_follow(&scan, format, binary, arguments);
  *result = scan.result;
  *consumed = scan.consumed;
  if (followed && scan.has_layout) {
    bool fits = cairn_layout_apply(s, n, format, digits, binary, again);
    cairn_hold(scan.shape | fits);
    *result = fits ? scan.total : scan.result;
    *consumed = fits ? SIZE_MAX : scan.consumed;
  }
  va_end(again);
  return followed;
}

static int cairn_scan_or(const char *s, const char *format, va_list arguments, bool binary,
                         int (*real)(const char *, const char *, va_list)) {
  s = cairn_settled(s);
  format = cairn_settled(format);
  size_t n = strlen(s) + 1;
  if (!cairn_is_symbolic(s, n) || cairn_is_symbolic(format, strlen(format) + 1) || !cairn_ascii_locale()) {
    return real(s, format, arguments);
  }
  /* The real function stores the same values and decides about `errno`, which it sets to 0 at the end of a string in
   * some cases and not in others. */
  va_list again;
  va_copy(again, arguments);
  int error = errno;
  int answer = real(s, format, again);
  int error_of_real = errno;
  va_end(again);

  int result;
  size_t consumed;
  errno = error;
  if (!cairn_scan(s, format, binary, answer, arguments, &result, &consumed)) {
    errno = error_of_real;
    return answer;
  }
  if (cairn_concrete((size_t)errno) != (size_t)error_of_real) errno = error_of_real;
  return result;
}

#define SCANF(name, v_name, binary, real)                                                                              \
  int v_name(const char *s, const char *format, va_list arguments) {                                                   \
    return cairn_scan_or(s, format, arguments, binary, real);                                                          \
  }                                                                                                                    \
  int name(const char *s, const char *format, ...) {                                                                   \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    int result = cairn_scan_or(s, format, arguments, binary, real);                                                    \
    va_end(arguments);                                                                                                 \
    return result;                                                                                                     \
  }

SCANF(cairn_sscanf, cairn_vsscanf, false, cairn_real_vsscanf)
SCANF(cairn_isoc99_sscanf, cairn_isoc99_vsscanf, false, __isoc99_vsscanf)
SCANF(cairn_isoc23_sscanf, cairn_isoc23_vsscanf, true, __isoc23_vsscanf)
#undef SCANF
