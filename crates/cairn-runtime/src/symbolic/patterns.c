// Functions that compile patterns, which are not followed: whether one is right, and what it means, is decided by its bytes.
#include "symbolic.h"
#include <regex.h>
#include <string.h>

// A pattern was compiled.
void cairn_symbolic_pattern(const char *pattern, size_t length);

const char *cairn_re_compile_pattern(const char *pattern, size_t length, struct re_pattern_buffer *compiled) {
  const char *result = re_compile_pattern(pattern, length, compiled);
  cairn_symbolic_pattern(pattern, length);
  return result;
}

int cairn_regcomp(regex_t *compiled, const char *pattern, int flags) {
  int result = regcomp(compiled, pattern, flags);
  cairn_symbolic_pattern(pattern, strlen(pattern) + 1);
  return result;
}
