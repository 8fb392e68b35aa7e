// Functions of the C library through which input comes in, in symbolic views: each calls the real one and tells the runtime
// what arrived. `sources.aliases` lists whom they replace.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void cairn_symbolic_was_read(int fd, void *place, size_t length, int64_t offset);
uint32_t cairn_symbolic_next_byte(int fd, int64_t offset, int byte);
uint32_t cairn_symbolic_count(int fd, int64_t offset, uint64_t wanted, uint64_t count);
void cairn_symbolic_line(int fd, const void *place, size_t length, int64_t offset, int end);
uint32_t cairn_symbolic_null_at_end(int fd, int64_t offset, uintptr_t otherwise);
void cairn_symbolic_was_told(struct stat *status);
void cairn_symbolic_return(uintptr_t function, uint32_t label);
void cairn_symbolic_copy(void *to, const void *from, uint64_t length);
void cairn_symbolic_set(void *to, uint32_t label, uint64_t length);
void cairn_symbolic_table(const void *start, uint64_t size);
void cairn_symbolic_cut(uint32_t why);
void cairn_symbolic_stop(void);
void cairn_symbolic_forget(const void *place, uint64_t length);

enum { CUT_THREAD = 3, CUT_EXEC = 5 };

#define RETURNS(function, label) cairn_symbolic_return((uintptr_t)(function), (label))

// Where a stream is: what was read from its file, less what is still in its buffer. errno stays.
static int64_t position(FILE *stream) {
  int before = errno;
  off_t at = lseek(fileno(stream), 0, SEEK_CUR);
  errno = before;
  return at < 0 ? -1 : at - (stream->_IO_read_end - stream->_IO_read_ptr);
}

ssize_t cairn_read(int fd, void *place, size_t length) {
  int before = errno;
  off_t at = lseek(fd, 0, SEEK_CUR);
  errno = before;
  ssize_t count = read(fd, place, length);
  if (count < 0) return count;
  cairn_symbolic_was_read(fd, place, count, at);
  RETURNS(cairn_read, cairn_symbolic_count(fd, at, length, count));
  return count;
}

ssize_t cairn_pread(int fd, void *place, size_t length, off_t at) {
  ssize_t count = pread(fd, place, length, at);
  if (count < 0) return count;
  cairn_symbolic_was_read(fd, place, count, at);
  RETURNS(cairn_pread, cairn_symbolic_count(fd, at, length, count));
  return count;
}

size_t cairn_fread(void *place, size_t size, size_t n, FILE *stream) {
  int64_t at = position(stream);
  size_t count = fread(place, size, n, stream);
  int64_t end = position(stream);
  size_t bytes = at >= 0 && end >= at ? (size_t)(end - at) : count * size;
  cairn_symbolic_was_read(fileno(stream), place, bytes, at);
  if (size == 1) RETURNS(cairn_fread, cairn_symbolic_count(fileno(stream), at, n, count));
  return count;
}

char *cairn_fgets(char *place, int length, FILE *stream) {
  int64_t at = position(stream);
  char *line = fgets(place, length, stream);
  if (!line) {
    RETURNS(cairn_fgets, cairn_symbolic_null_at_end(fileno(stream), at, (uintptr_t)place));
    return line;
  }
  int64_t end = position(stream);
  size_t bytes = at >= 0 && end >= at ? (size_t)(end - at) : strlen(line);
  cairn_symbolic_was_read(fileno(stream), place, bytes, at);
  cairn_symbolic_set(place + bytes, 0, 1);
  cairn_symbolic_line(fileno(stream), place, bytes, at, '\n');
  return line;
}

#define NEXT_BYTE(name, real)                                                       \
  int name(FILE *stream) {                                                          \
    int64_t at = position(stream);                                                  \
    int byte = real(stream);                                                        \
    RETURNS(name, cairn_symbolic_next_byte(fileno(stream), at, byte));              \
    return byte;                                                                    \
  }
NEXT_BYTE(cairn_fgetc, fgetc)
NEXT_BYTE(cairn_fgetc_unlocked, fgetc_unlocked)

int cairn_getchar(void) {
  int64_t at = position(stdin);
  int byte = getchar();
  RETURNS(cairn_getchar, cairn_symbolic_next_byte(fileno(stdin), at, byte));
  return byte;
}

ssize_t cairn_getdelim(char **line, size_t *size, int end, FILE *stream) {
  int64_t at = position(stream);
  char *old = *line;
  size_t old_size = *size;
  ssize_t length = getdelim(line, size, end, stream);
  if (*line != old || *size != old_size) {
    cairn_symbolic_set(line, 0, sizeof *line);
    cairn_symbolic_set(size, 0, sizeof *size);
  }
  if (length < 0) {
    // The file might have had more: then at least one byte would have come.
    return length;
  }
  cairn_symbolic_was_read(fileno(stream), *line, length, at);
  cairn_symbolic_set(*line + length, 0, 1);
  cairn_symbolic_line(fileno(stream), *line, length, at, end);
  return length;
}

ssize_t cairn_getline(char **line, size_t *size, FILE *stream) { return cairn_getdelim(line, size, '\n', stream); }

void *cairn_mmap(void *place, size_t length, int protection, int flags, int fd, off_t at) {
  void *mapped = mmap(place, length, protection, flags, fd, at);
  if (mapped == MAP_FAILED) return mapped;
  // Labels of what was mapped there before.
  cairn_symbolic_forget(mapped, length);
  struct stat status;
  if (flags & MAP_ANONYMOUS || fstat(fd, &status) != 0) {
    return mapped;
  }
  off_t left = status.st_size > at ? status.st_size - at : 0;
  if (protection & PROT_READ) cairn_symbolic_was_read(fd, mapped, left < (off_t)length ? (size_t)left : length, at);
  return mapped;
}

#define STATUS(name, real, parameters, arguments)    \
  int name parameters {                              \
    int result = real arguments;                     \
    if (result == 0) cairn_symbolic_was_told(status); \
    return result;                                   \
  }
STATUS(cairn_stat, stat, (const char *path, struct stat *status), (path, status))
STATUS(cairn_lstat, lstat, (const char *path, struct stat *status), (path, status))
STATUS(cairn_fstat, fstat, (int fd, struct stat *status), (fd, status))
STATUS(cairn_fstatat, fstatat, (int folder, const char *path, struct stat *status, int flags), (folder, path, status, flags))

// Fresh memory has no labels, and memory that moves takes its labels along.
void *cairn_calloc(size_t n, size_t size) {
  void *place = calloc(n, size);
  if (place) cairn_symbolic_set(place, 0, n * size);
  return place;
}

void *cairn_realloc(void *old, size_t size) {
  size_t before = old ? malloc_usable_size(old) : 0;
  void *place = realloc(old, size);
  if (place && old && place != old) cairn_symbolic_copy(place, old, before < size ? before : size);
  return place;
}

void *cairn_reallocarray(void *old, size_t n, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(n, size, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  return cairn_realloc(old, total);
}

// Tables of the C library that macros of <ctype.h> look into: from -128 to 255.
#define TABLE(name, real, type)                                                  \
  const type **name(void) {                                                      \
    const type **table = real();                                                 \
    cairn_symbolic_table(*table - 128, 384 * sizeof(type));                      \
    return table;                                                                \
  }
const unsigned short **__ctype_b_loc(void);
const int32_t **__ctype_tolower_loc(void);
const int32_t **__ctype_toupper_loc(void);
TABLE(cairn_ctype_b_loc, __ctype_b_loc, unsigned short)
TABLE(cairn_ctype_tolower_loc, __ctype_tolower_loc, int32_t)
TABLE(cairn_ctype_toupper_loc, __ctype_toupper_loc, int32_t)

int cairn_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  cairn_symbolic_cut(CUT_THREAD);
  return pthread_create(thread, attributes, start, argument);
}

// What a child does is no part of this run.
pid_t cairn_fork(void) {
  pid_t child = fork();
  if (child == 0) cairn_symbolic_stop();
  return child;
}

int cairn_execve(const char *path, char *const argv[], char *const envp[]) {
  cairn_symbolic_cut(CUT_EXEC);
  return execve(path, argv, envp);
}

int cairn_execv(const char *path, char *const argv[]) {
  cairn_symbolic_cut(CUT_EXEC);
  return execv(path, argv);
}

int cairn_execvp(const char *path, char *const argv[]) {
  cairn_symbolic_cut(CUT_EXEC);
  return execvp(path, argv);
}
