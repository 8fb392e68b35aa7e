/* The directives of formats for scanf. */
#include "models.h"

/* One directive of a format. */
struct cairn_scan_directive {
  /* The conversion; 0 at the end of the format, 1 for white space, 2 for a literal. */
  char kind;
  char literal;
  bool suppressed;
  /* 0: none. */
  size_t width;
  /* The size of an integer in bytes; for floating-point numbers 4 or 8. */
  int size;
  /* The characters of `%[`, between the brackets, and their number. */
  const char *set;
  size_t n_set;
  bool negated;
};

enum { CAIRN_SCAN_END = 0, CAIRN_SCAN_SPACE = 1, CAIRN_SCAN_LITERAL = 2 };

/* Reads a directive and returns what follows it; null for one that is not modelled. */
static const char *cairn_scan_directive(const char *format, struct cairn_scan_directive *directive) {
  *directive = (struct cairn_scan_directive){.kind = CAIRN_SCAN_END, .size = 4};
  if (*format == 0) return format;
  if (cairn_ascii_space((unsigned char)*format)) {
    directive->kind = CAIRN_SCAN_SPACE;
    return format + 1;
  }
  if (*format != '%') {
    if ((unsigned char)*format >= 0x80) return NULL;
    directive->kind = CAIRN_SCAN_LITERAL;
    directive->literal = *format;
    return format + 1;
  }
  format++;
  if (*format == '*') {
    directive->suppressed = true;
    format++;
  }
  while (cairn_in_range(*format, '0', '9')) {
    directive->width = directive->width * 10 + (size_t)(*format++ - '0');
    if (directive->width > INT_MAX) return NULL;
  }
  bool modified = true;
  if (format[0] == 'h' && format[1] == 'h') {
    directive->size = 1;
    format += 2;
  } else if (format[0] == 'h') {
    directive->size = 2;
    format++;
  } else if (format[0] == 'l' && format[1] == 'l') {
    directive->size = 16;
    format += 2;
  } else if (format[0] == 'l' || format[0] == 'z' || format[0] == 'j' || format[0] == 't') {
    directive->size = 8;
    format++;
  } else {
    modified = false;
  }
  directive->kind = *format++;
  switch (directive->kind) {
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o':
  case 'n':
    if (directive->size == 16) directive->size = 8;
    return directive->kind == 'n' && (directive->suppressed || directive->width) ? NULL : format;
  case 'e':
  case 'f':
  case 'g':
  case 'E':
  case 'G':
    return directive->size == 4 || (directive->size == 8 && format[-2] == 'l') ? format : NULL;
  case 'c':
  case 's':
    return modified ? NULL : format;
  case '%':
    return modified || directive->suppressed || directive->width ? NULL : format;
  case '[':
    if (modified) return NULL;
    if (*format == '^') {
      directive->negated = true;
      format++;
    }
    directive->set = format;
    if (*format == ']') format++;
    while (*format != 0 && *format != ']') format++;
    if (*format == 0) return NULL;
    directive->n_set = (size_t)(format - directive->set);
    return format + 1;
  default:
    return NULL;
  }
}

/* Whether a byte is one that `%[` takes, without a branch on it. */
static bool cairn_scan_takes(const struct cairn_scan_directive *directive, unsigned char c) {
  const unsigned char *set = (const unsigned char *)directive->set;
  size_t n = directive->n_set;
  bool taken = false;
  for (size_t i = 0; i < n; i++) {
    if (set[i] == '-' && i > 0 && i + 1 < n && set[i - 1] <= set[i + 1]) {
      taken |= cairn_in_range(c, set[i - 1], set[i + 1]);
    } else {
      taken |= c == set[i];
    }
  }
  return taken != directive->negated;
}

/* Counts the assignments of a format; -1 if it has a directive that is not modelled. */
static int cairn_scan_total(const char *format) {
  struct cairn_scan_directive directive;
  int total = 0;
  do {
    format = cairn_scan_directive(format, &directive);
    if (format == NULL) return -1;
    bool converts = directive.kind > CAIRN_SCAN_LITERAL && directive.kind != '%' && directive.kind != 'n';
    total += converts && !directive.suppressed;
  } while (directive.kind != CAIRN_SCAN_END);
  return total;
}
