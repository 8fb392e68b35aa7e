/* What models take as it is in this run, and how far a string could go in others. */
#include "models.h"

/* Leaves a condition in the trace that is known to hold. It is not inlined because the compiler would go on to use
 * one side of an equation for the other, and with it the label. */
__attribute__((noinline)) static void cairn_hold(bool condition) {
  if (!condition) abort();
}

/* Makes it a condition that a string begins with the `n` bytes it begins with, and what a conversion looks at after
 * them, for answers that are constants. */
static void cairn_hold_bytes(const char *string, size_t n) {
  size_t last = strnlen(string, n + 8);
  for (size_t i = 0; i <= last; i++) {
    unsigned char byte = (unsigned char)string[i];
    cairn_hold(byte == cairn_concrete(byte));
  }
}

/* An address without its label. Which one it is in this run becomes a condition, because what is there may be another
 * thing elsewhere. */
static void *cairn_settled(const void *address) {
  void *concrete = (void *)cairn_concrete((size_t)address);
  cairn_hold(address == concrete);
  return concrete;
}

/* Goes on after `n` bytes that matter in this run, as long as the input goes on there, up to `most` bytes. All of
 * them can be read. */
CAIRN_CONCRETE static size_t cairn_extend(const void *bytes, size_t n, size_t most) {
  while (n > 0 && n < most && cairn_continues((const char *)bytes + n - 1)) n++;
  return n < most ? n : most;
}

/* How many bytes can decide what a string is, at most `most`: those up to its end, and those after it as long as the
 * input goes on there, because the byte that ends the string may be another in other inputs. */
CAIRN_CONCRETE static size_t cairn_extent(const char *string, size_t most) {
  return cairn_extend(string, strnlen(string, most) + 1, most);
}

/* The same, where the string is known to end there in all inputs. If it could go on with what is no part of the same
 * input, that it does not becomes a condition. */
static size_t cairn_window(const char *string, size_t most) {
  size_t extent = cairn_extent(string, most);
  if (extent < most && !cairn_ends(string + extent - 1)) {
    bool ends = false;
    for (size_t i = 0; i < extent; i++) ends |= string[i] == 0;
    cairn_hold(ends);
  }
  return extent;
}

/* An argument with the bytes that a longer one would have, `longer` in all. */
static const unsigned char *cairn_grown(unsigned char *room, const unsigned char *word, size_t extent, size_t longer) {
  for (size_t i = 0; i < extent; i++) room[i] = word[i];
  cairn_beyond(room + extent, longer - extent, word + extent - 1);
  return room;
}

/* The length of a string as a path: it is the same in all inputs that meet its conditions. */
static size_t cairn_pinned_length(const char *string) {
  size_t length = strlen(string);
  if (!cairn_is_symbolic(string, length + 1)) return length;
  for (length = 0; string[length] != 0; length++) {}
  return length;
}
