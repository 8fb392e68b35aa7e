// Jumps that bring a value along: its label is found behind `setjmp`.
#include "symbolic.h"
#include <setjmp.h>

void cairn_symbolic_jumps(uint32_t label, int value);

__attribute__((noreturn)) void cairn_longjmp(jmp_buf to, int value) {
  cairn_symbolic_jumps(cairn_symbolic_argument((uintptr_t)cairn_longjmp, 1), value);
  longjmp(to, value);
}
