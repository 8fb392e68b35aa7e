// Memory that the C library hands out or moves: fresh memory has no labels, and memory that moves takes its labels along.
#include "symbolic.h"
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>

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

void *cairn_mremap(void *old, size_t before, size_t size, int flags, ...) {
  void *wanted = NULL;
  if (flags & MREMAP_FIXED) {
    va_list rest;
    va_start(rest, flags);
    wanted = va_arg(rest, void *);
    va_end(rest);
  }
  void *place = mremap(old, before, size, flags, wanted);
  if (place == MAP_FAILED) return place;
  cairn_symbolic_mapped(place, size);
  size_t kept = before < size ? before : size;
  if (place != old) {
    cairn_symbolic_copy(place, old, kept);
    cairn_symbolic_forget(old, before);
  }
  if (size > before) cairn_symbolic_set((char *)place + before, 0, size - before);
  return place;
}

int cairn_mprotect(void *place, size_t length, int protection) {
  int result = mprotect(place, length, protection);
  if (result == 0 && protection & PROT_WRITE) cairn_symbolic_mapped(place, length);
  return result;
}

void *cairn_shmat(int id, const void *wanted, int flags) {
  void *place = shmat(id, wanted, flags);
  struct shmid_ds status;
  if (place != (void *)-1 && shmctl(id, IPC_STAT, &status) == 0) {
    cairn_symbolic_mapped(place, status.shm_segsz);
    cairn_symbolic_forget(place, status.shm_segsz);
  }
  return place;
}
