/* A loop over the bytes of standard input: words are counted, numbers read and a checksum kept, again and again.
 * Its argument says how often. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char text[1 << 20];

int main(int argc, char **argv) {
  size_t length = fread(text, 1, sizeof text, stdin);
  long rounds = argc > 1 ? atol(argv[1]) : 1;
  unsigned long words = 0, numbers = 0, sum = 0;
  uint32_t check = 1;
  for (long round = 0; round < rounds; round++) {
    int in_word = 0;
    unsigned number = 0;
    for (size_t i = 0; i < length; i++) {
      unsigned char c = text[i];
      check = (check << 5 | check >> 27) ^ c;
      if (c >= '0' && c <= '9') {
        number = number * 10 + (c - '0');
        in_word = 0;
      } else {
        if (number) {
          numbers++;
          sum += number;
          number = 0;
        }
        if (c == ' ' || c == '\n') {
          in_word = 0;
        } else if (!in_word) {
          in_word = 1;
          words++;
        }
      }
    }
  }
  printf("%lu words, %lu numbers, sum %lu, check %08x\n", words, numbers, sum, check);
  return 0;
}
