// Functions by which a program changes a file: what it reads there afterwards is no longer its input.
#include "symbolic.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The runtime's own, which has an answer of its own for one file.
int cairn_open(const char *path, int flags, ...);

static int opened(int fd, int flags) {
  if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY) cairn_symbolic_changes(fd);
  else if (fd >= 0 && !(flags & (O_NONBLOCK | O_PATH))) cairn_symbolic_opened(fd);
  return fd;
}

static int mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; }

int cairn_symbolic_open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = mode_of(flags, rest);
  va_end(rest);
  return opened(cairn_open(path, flags, mode), flags);
}

int cairn_openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = mode_of(flags, rest);
  va_end(rest);
  return opened(openat(folder, path, flags, mode), flags);
}

int cairn_creat(const char *path, mode_t mode) { return opened(creat(path, mode), O_WRONLY); }

static FILE *stream_opened(FILE *stream, const char *mode) {
  if (!stream) return stream;
  if (*mode != 'r' || strchr(mode, '+')) cairn_symbolic_changes(fileno(stream));
  else cairn_symbolic_opened(fileno(stream));
  return stream;
}

FILE *cairn_fopen(const char *path, const char *mode) { return stream_opened(fopen(path, mode), mode); }

// What is known of a stream no longer holds.
void cairn_stream_is_new(FILE *stream);

FILE *cairn_freopen(const char *path, const char *mode, FILE *stream) {
  cairn_stream_is_new(stream);
  return stream_opened(freopen(path, mode, stream), mode);
}

int cairn_truncate(const char *path, off_t length) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    cairn_symbolic_changes(fd);
    close(fd);
  }
  return truncate(path, length);
}

// The new file may have the number of an old one.
int cairn_mkstemp(char *name) { return opened(mkstemp(name), O_RDWR); }
int cairn_mkostemp(char *name, int flags) { return opened(mkostemp(name, flags), O_RDWR); }
FILE *cairn_tmpfile(void) { return stream_opened(tmpfile(), "w+"); }
