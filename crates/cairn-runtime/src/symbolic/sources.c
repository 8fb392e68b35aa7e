// Functions of the C library through which input comes in, in symbolic views: each calls the real one and tells the runtime
// what arrived. `sources.aliases` lists whom they replace.
#include "symbolic.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// Where a descriptor is; errno stays.
static int64_t offset_of(int fd) {
  int before = errno;
  off_t at = lseek(fd, 0, SEEK_CUR);
  errno = before;
  return at;
}

ssize_t cairn_read(int fd, void *place, size_t length) {
  int64_t at = offset_of(fd);
  ssize_t count = read(fd, place, length);
  if (count < 0) return count;
  cairn_symbolic_was_read(fd, place, count, at);
  uint32_t label = cairn_symbolic_argument((uintptr_t)cairn_read, 2);
  RETURNS(cairn_read, label ? cairn_symbolic_count_of(fd, at, label, length, count)
                            : cairn_symbolic_count(fd, at, length, count, 1));
  return count;
}

// What lies at the end of a file lies elsewhere in others.
off_t cairn_lseek(int fd, off_t offset, int whence) {
  off_t at = lseek(fd, offset, whence);
  if (whence == SEEK_END) RETURNS(cairn_lseek, cairn_symbolic_from_end(fd, offset, at));
  return at;
}

ssize_t cairn_pread(int fd, void *place, size_t length, off_t at) {
  ssize_t count = pread(fd, place, length, at);
  if (count < 0) return count;
  cairn_symbolic_was_read(fd, place, count, at);
  RETURNS(cairn_pread, cairn_symbolic_count(fd, at, length, count, 1));
  return count;
}

// Tells of bytes that were read into several places; returns how many there was room for.
static size_t were_read(int fd, const struct iovec *places, int n, size_t count, int64_t at) {
  size_t room = 0;
  for (int i = 0; i < n; i++) {
    size_t left = count > room ? count - room : 0;
    size_t length = left < places[i].iov_len ? left : places[i].iov_len;
    cairn_symbolic_was_read(fd, places[i].iov_base, length, at < 0 ? at : at + (int64_t)room);
    room += places[i].iov_len;
  }
  return room;
}

ssize_t cairn_readv(int fd, const struct iovec *places, int n) {
  int64_t at = offset_of(fd);
  ssize_t count = readv(fd, places, n);
  if (count < 0) return count;
  size_t room = were_read(fd, places, n, count, at);
  RETURNS(cairn_readv, cairn_symbolic_count(fd, at, room, count, 1));
  return count;
}

ssize_t cairn_preadv(int fd, const struct iovec *places, int n, off_t at) {
  ssize_t count = preadv(fd, places, n, at);
  if (count < 0) return count;
  size_t room = were_read(fd, places, n, count, at);
  RETURNS(cairn_preadv, cairn_symbolic_count(fd, at, room, count, 1));
  return count;
}

ssize_t cairn_preadv2(int fd, const struct iovec *places, int n, off_t at, int flags) {
  int64_t from = at == -1 ? offset_of(fd) : at;
  ssize_t count = preadv2(fd, places, n, at, flags);
  if (count < 0) return count;
  size_t room = were_read(fd, places, n, count, from);
  RETURNS(cairn_preadv2, cairn_symbolic_count(fd, from, room, count, 1));
  return count;
}

void *cairn_mmap(void *place, size_t length, int protection, int flags, int fd, off_t at) {
  void *mapped = mmap(place, length, protection, flags, fd, at);
  if (mapped == MAP_FAILED) return mapped;
  if (protection & PROT_WRITE) cairn_symbolic_mapped(mapped, length);
  // Labels of what was mapped there before.
  cairn_symbolic_forget(mapped, length);
  struct stat status;
  if (flags & MAP_ANONYMOUS || fstat(fd, &status) != 0) {
    return mapped;
  }
  off_t left = status.st_size > at ? status.st_size - at : 0;
  if (protection & PROT_READ) cairn_symbolic_was_read(fd, mapped, left < (off_t)length ? (size_t)left : length, at);
  if (flags & MAP_SHARED && protection & PROT_WRITE) cairn_symbolic_changes(fd);
  return mapped;
}

void cairn_symbolic_was_told(struct stat *status);

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

// The same file as `stat` knows it lends its labels.
int cairn_statx(int folder, const char *path, int flags, unsigned mask, struct statx *status) {
  int result = statx(folder, path, flags, mask, status);
  if (result != 0) return result;
  cairn_symbolic_set(status, 0, sizeof *status);
  int before = errno;
  struct stat known;
  if (fstatat(folder, path, &known, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) == 0) {
    cairn_symbolic_was_told(&known);
    cairn_symbolic_copy(&status->stx_size, &known.st_size, sizeof status->stx_size);
    cairn_symbolic_copy(&status->stx_mode, &known.st_mode, sizeof status->stx_mode);
    cairn_symbolic_copy(&status->stx_mtime.tv_sec, &known.st_mtim.tv_sec, sizeof known.st_mtim.tv_sec);
    cairn_symbolic_copy(&status->stx_atime.tv_sec, &known.st_atim.tv_sec, sizeof known.st_atim.tv_sec);
  }
  errno = before;
  return result;
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
