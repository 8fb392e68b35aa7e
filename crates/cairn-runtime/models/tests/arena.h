/* Memory for tests of models: what is labelled in it is up to the test, and what is read past its end is a crash. */
#ifndef ARENA_H
#define ARENA_H

#include "../models.h"
#include <sys/mman.h>

/* Two buffers, each followed by a page that cannot be touched. */
enum { ARENA_SIZE = 4096, ARENAS = 2 };
static char *arena[ARENAS];

/* Which bytes of each have labels; one label for each byte, all of one region. */
static const char *labelled_from[ARENAS], *labelled_to[ARENAS];
/* Whether variables do. */
static bool values_are_labelled;

static void make_arenas(void) {
  for (int i = 0; i < ARENAS; i++) {
    char *pages = mmap(NULL, 2 * ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + ARENA_SIZE, ARENA_SIZE, PROT_NONE) != 0) abort();
    arena[i] = pages;
  }
}

static void label(int i, const char *from, size_t n) {
  labelled_from[i] = from;
  labelled_to[i] = from + n;
}

int cairn_is_symbolic(const void *bytes, size_t n) {
  const char *from = bytes;
  for (int i = 0; i < ARENAS; i++) {
    if (from < labelled_to[i] && from + n > labelled_from[i]) return 1;
  }
  uintptr_t up_the_stack = (uintptr_t)bytes - (uintptr_t)__builtin_frame_address(0);
  return values_are_labelled && up_the_stack < 1 << 16;
}

int cairn_continues(const void *byte) {
  const char *at = byte;
  for (int i = 0; i < ARENAS; i++) {
    if (labelled_from[i] <= at && at + 1 < labelled_to[i]) return 1;
  }
  return 0;
}

size_t cairn_concrete(size_t value) {
  return value;
}

/* What follows a labelled string is not looked at. */
int cairn_ends(const void *byte) {
  (void)byte;
  return 1;
}

/* No argument is compared. */
int cairn_grows(const void *byte) {
  (void)byte;
  return 0;
}

void cairn_beyond(void *place, size_t n, const void *byte) {
  (void)place, (void)n, (void)byte;
}

/* Streams are looked at in programs of their own; here none is a part of the input. */
size_t cairn_next_bytes(FILE *stream, char *place, size_t room) {
  (void)stream, (void)place, (void)room;
  return 0;
}

long cairn_place(FILE *stream) {
  return ftell(stream);
}

void cairn_scanned(FILE *stream, size_t length) {
  (void)stream, (void)length;
}

void cairn_left_alone(const char *name) {
  (void)name;
}

static uint64_t random_state = 88172645463325252u;

/* The same numbers in every run. */
static uint64_t random_bits(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static size_t random_below(size_t n) {
  return n ? (size_t)((random_bits() >> 11) % n) : 0;
}

#endif
