// The mathematical library in symbolic views: the real function, and a node that says which.
#include <math.h>
#include <stdint.h>
#include <string.h>

uint32_t cairn_symbolic_argument(uintptr_t function, uint32_t index);
uint32_t cairn_symbolic_binary(uint32_t code, uint32_t a, uint32_t b, uint64_t left, uint64_t right, uint64_t value);
uint32_t cairn_symbolic_math(uint32_t code, uint32_t a, uint32_t b, uint64_t left, uint64_t right, uint64_t value);
void cairn_symbolic_return(uintptr_t function, uint32_t label);

static uint64_t bits64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint64_t bits32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#define ONE(number, real, type, width)                                                                         \
  type cairn_##real(type x) {                                                                                  \
    type result = real(x);                                                                                     \
    uint32_t a = cairn_symbolic_argument((uintptr_t)cairn_##real, 0);                                          \
    uint32_t label = cairn_symbolic_math(number | width << 8, a, 0, bits##width(x), 0, bits##width(result));   \
    cairn_symbolic_return((uintptr_t)cairn_##real, label);                                                     \
    return result;                                                                                             \
  }
#define TWO(number, real, type, width)                                                                         \
  type cairn_##real(type x, type y) {                                                                          \
    type result = real(x, y);                                                                                  \
    uint32_t a = cairn_symbolic_argument((uintptr_t)cairn_##real, 0);                                          \
    uint32_t b = cairn_symbolic_argument((uintptr_t)cairn_##real, 1);                                          \
    uint32_t label =                                                                                           \
        cairn_symbolic_math(number | width << 8, a, b, bits##width(x), bits##width(y), bits##width(result));   \
    cairn_symbolic_return((uintptr_t)cairn_##real, label);                                                     \
    return result;                                                                                             \
  }
// An operation that expressions have anyway.
#define OPERATION(number, real, type, width)                                                                   \
  type cairn_##real(type x, type y) {                                                                          \
    type result = real(x, y);                                                                                  \
    uint32_t a = cairn_symbolic_argument((uintptr_t)cairn_##real, 0);                                          \
    uint32_t b = cairn_symbolic_argument((uintptr_t)cairn_##real, 1);                                          \
    uint32_t label =                                                                                           \
        cairn_symbolic_binary(number | width << 8, a, b, bits##width(x), bits##width(y), bits##width(result)); \
    cairn_symbolic_return((uintptr_t)cairn_##real, label);                                                     \
    return result;                                                                                             \
  }
#define BOTH(arity, number, real) arity(number, real, double, 64) arity(number, real##f, float, 32)

BOTH(ONE, 0, fabs)
BOTH(ONE, 1, sqrt)
BOTH(ONE, 2, floor)
BOTH(ONE, 3, ceil)
BOTH(ONE, 4, trunc)
BOTH(ONE, 5, round)
BOTH(ONE, 6, rint)
BOTH(ONE, 7, exp)
BOTH(ONE, 8, exp2)
BOTH(ONE, 9, log)
BOTH(ONE, 10, log2)
BOTH(ONE, 11, log10)
BOTH(ONE, 12, sin)
BOTH(ONE, 13, cos)
BOTH(ONE, 14, tan)
BOTH(ONE, 15, asin)
BOTH(ONE, 16, acos)
BOTH(ONE, 17, atan)
BOTH(ONE, 18, sinh)
BOTH(ONE, 19, cosh)
BOTH(ONE, 20, tanh)
BOTH(ONE, 21, cbrt)
BOTH(TWO, 22, pow)
BOTH(TWO, 23, atan2)
BOTH(TWO, 24, hypot)
BOTH(TWO, 25, fmin)
BOTH(TWO, 26, fmax)
BOTH(TWO, 27, copysign)
BOTH(OPERATION, 68, fmod)
