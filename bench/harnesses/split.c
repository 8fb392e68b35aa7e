/* Makes arguments and standard input out of one file, for fuzzers that make one file. Linked into a program with
 * `--wrap=main`; does nothing unless `CAIRN_SPLIT` is set.
 *
 * Standard input begins with the arguments, each ended by a zero byte; an empty one ends them, and the program reads
 * what is behind. */
#include <stdlib.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64, MOST_BYTES = 4096 };

int __real_main(int argc, char **argv, char **environment);

int __wrap_main(int argc, char **argv, char **environment) {
  static char bytes[MOST_BYTES + 1];
  static char *split[MOST_ARGUMENTS + 2];
  if (!getenv("CAIRN_SPLIT"))
    return __real_main(argc, argv, environment);
  unsetenv("CAIRN_SPLIT");
  ssize_t size = pread(0, bytes, MOST_BYTES, 0);
  ssize_t start = 0;
  int n = 1;
  split[0] = argv[0];
  while (start < size && bytes[start] && n <= MOST_ARGUMENTS) {
    split[n++] = &bytes[start];
    while (start < size && bytes[start])
      start++;
    start++;
  }
  if (start < size && !bytes[start])
    start++;
  lseek(0, start < size ? start : size < 0 ? 0 : size, SEEK_SET);
  return __real_main(n, split, environment);
}
