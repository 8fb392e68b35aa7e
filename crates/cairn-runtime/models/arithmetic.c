/* abs, div and their kin, without branches. */
#include "models.h"

int cairn_abs(int n) {
  int negated = (int)-(unsigned)n;
  return n < 0 ? negated : n;
}

long cairn_labs(long n) {
  long negated = (long)-(unsigned long)n;
  return n < 0 ? negated : n;
}

div_t cairn_div(int a, int b) {
  return (div_t){a / b, a % b};
}

ldiv_t cairn_ldiv(long a, long b) {
  return (ldiv_t){a / b, a % b};
}
