/* A harness as a program: runs it once, on what standard input brings. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

int main(int argc, char **argv) {
  size_t size = 0, capacity = 1 << 16;
  uint8_t *data = malloc(capacity);
  ssize_t n;
  while (data && (n = read(0, data + size, capacity - size)) > 0) {
    size += (size_t)n;
    if (size == capacity)
      data = realloc(data, capacity *= 2);
  }
  if (!data)
    return 1;
  if (LLVMFuzzerInitialize)
    LLVMFuzzerInitialize(&argc, &argv);
  /* Of the right size, so that reading behind its end can be noticed. */
  data = realloc(data, size ? size : 1);
  LLVMFuzzerTestOneInput(data, size);
  return 0;
}
