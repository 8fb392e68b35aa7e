/* Comparing a model with the real function: the first difference ends the test. */
#ifndef EXPECT_H
#define EXPECT_H

#include "arena.h"
#include <ctype.h>

static unsigned long n_compared;

/* Prints bytes so that they can be pasted into C. */
static void show(const char *name, const void *bytes, size_t n) {
  fprintf(stderr, "  %s = \"", name);
  for (size_t i = 0; i < n; i++) {
    unsigned char c = ((const unsigned char *)bytes)[i];
    if (c >= ' ' && c < 127 && c != '"' && c != '\\') {
      fputc(c, stderr);
    } else {
      fprintf(stderr, "\\%03o", c);
    }
  }
  fprintf(stderr, "\"\n");
}

#define EXPECT(what, want, got)                                                                                        \
  do {                                                                                                                 \
    n_compared++;                                                                                                      \
    if ((want) != (got)) {                                                                                             \
      fprintf(stderr, "%s: glibc says %lld, the model %lld\n", what, (long long)(want), (long long)(got));             \
      describe();                                                                                                      \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

#define EXPECT_BYTES(what, want, got, n)                                                                               \
  do {                                                                                                                 \
    n_compared++;                                                                                                      \
    if (memcmp(want, got, n) != 0) {                                                                                   \
      fprintf(stderr, "%s: the bytes differ\n", what);                                                                 \
      show("glibc", want, n);                                                                                          \
      show("model", got, n);                                                                                           \
      describe();                                                                                                      \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

static int finish(void) {
  printf("%lu results compared\n", n_compared);
  return 0;
}

/* Fills the end of an arena with `n` bytes of an alphabet and a zero, leaves some bytes after it, and labels a part.
 * Returns the string. */
static char *random_string(int i, size_t n, const char *alphabet, size_t n_alphabet) {
  size_t after = random_below(3) ? 0 : random_below(40);
  char *s = arena[i] + ARENA_SIZE - n - 1 - after;
  for (size_t k = 0; k < n + after; k++) s[k] = alphabet[random_below(n_alphabet)];
  s[n] = 0;
  s[n + after] = 0;
  switch (random_below(4)) {
  case 0:
    label(i, s, 0);
    break;
  case 1:
    label(i, s + random_below(n + 1), random_below(n + after + 2));
    if (labelled_to[i] > s + n + after + 1) labelled_to[i] = s + n + after + 1;
    break;
  case 2:
    label(i, s, n);
    break;
  default:
    label(i, s, n + after + 1);
  }
  return s;
}

#endif
