/* Makes libFuzzer run given buffers in turn instead of inputs of its own making: the files of the folder `IN_TURN`, in
 * the order of their names. With `MADE` it makes its own, and writes some of them to that folder. Everything else it
 * does stays as it is. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
  uint8_t *start;
  size_t size;
};

/* Of the inputs that libFuzzer makes, neighbours are much alike: only each of so many is written. */
enum { WRITTEN = 16 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static struct buffer *buffers;
static size_t n_buffers, next;
static const char *made;

static void fail(const char *what) {
  fprintf(stderr, "error: %s\n\nhint: `IN_TURN` names a folder of files, or `MADE` one that can be written\n", what);
  exit(1);
}

static void write_file(const uint8_t *data, size_t size, size_t number) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%06zu", made, number);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file))
    fail("cannot write a file");
}

static struct buffer read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END))
    fail("cannot open a file");
  struct buffer buffer = {NULL, (size_t)ftell(file)};
  buffer.start = malloc(buffer.size + 1);
  rewind(file);
  if (!buffer.start || fread(buffer.start, 1, buffer.size, file) != buffer.size)
    fail("cannot read a file");
  fclose(file);
  return buffer;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  made = getenv("MADE");
  if (made)
    return 0;
  const char *folder = getenv("IN_TURN");
  struct dirent **entries;
  int n = folder ? scandir(folder, &entries, NULL, alphasort) : -1;
  if (n < 0)
    fail("cannot list the folder");
  buffers = calloc((size_t)n + 1, sizeof *buffers);
  for (int i = 0; i < n; i++) {
    char path[4096];
    if (entries[i]->d_name[0] == '.')
      continue;
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    buffers[n_buffers++] = read_file(path);
  }
  if (!n_buffers)
    fail("the folder is empty");
  return 0;
}

__attribute__((no_sanitize("coverage"))) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                                                                        unsigned seed) {
  (void)seed;
  if (made) {
    size = LLVMFuzzerMutate(data, size, max_size);
    if (next++ % WRITTEN == 0)
      write_file(data, size, next / WRITTEN);
    return size;
  }
  struct buffer *buffer = &buffers[next];
  next = next + 1 == n_buffers ? 0 : next + 1;
  if (buffer->size > max_size)
    fail("a buffer is too long");
  memcpy(data, buffer->start, buffer->size);
  return buffer->size;
}
