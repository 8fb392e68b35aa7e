/* What scanf stores. */
#include "models.h"

/* Stores an integer of a directive's size if there is one. The old value is loaded in any case: an expression chooses
 * between values, not between loads. */
static void cairn_scan_store(void *to, int size, unsigned long value, bool matched) {
#define STORE(type)                                                                                                    \
  do {                                                                                                                 \
    type old = *(type *)to, new = (type)value;                                                                         \
    *(type *)to = matched ? new : old;                                                                                 \
  } while (0)

  switch (size) {
  case 1:
    STORE(unsigned char);
    return;
  case 2:
    STORE(unsigned short);
    return;
  case 4:
    STORE(unsigned);
    return;
  default:
    STORE(unsigned long);
  }
#undef STORE
}

/* The value of an integer as strtol or strtoul would have it, with what they do to `errno` if it is `read` at all. */
static unsigned long cairn_scan_value(struct cairn_integer number, bool is_signed, bool read) {
  unsigned long negated = -number.magnitude;
  unsigned long value = number.negative ? negated : number.magnitude;
  unsigned long most = is_signed ? (number.negative ? (unsigned long)LONG_MAX + 1 : LONG_MAX) : ULONG_MAX;
  unsigned long clamped = is_signed ? most : ULONG_MAX;
  bool overflow = number.overflow | (number.magnitude > most);
  int error = errno;
  errno = read & number.matched & overflow ? ERANGE : error;
  return overflow ? clamped : value;
}

/* Stores a floating-point number of a directive's size if there is one. */
static void cairn_scan_store_decimal(void *to, int size, double value, bool matched) {
  if (size == 8) {
    double old = *(double *)to;
    *(double *)to = matched ? value : old;
  } else {
    float old = *(float *)to, new = (float)value;
    *(float *)to = matched ? new : old;
  }
}

/* How integers are written for a conversion. */
static struct cairn_notation cairn_scan_notation(char kind, bool binary) {
  int base = kind == 'i' ? 0 : kind == 'o' ? 8 : kind == 'x' || kind == 'X' ? 16 : 10;
  return (struct cairn_notation){base, binary, true, false};
}
