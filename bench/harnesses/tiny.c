/* The smallest harness that does something with its input: what remains is the cost of running it. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 3 && data[0] == 'C' && data[1] == 'a' && data[2] == 'i' && data[3] == 'r')
    return 0;
  unsigned sum = 0;
  for (size_t i = 0; i < size; i++)
    sum += data[i];
  /* Used, so that the loop stays. */
  return sum == 0xffffffff ? -1 : 0;
}
