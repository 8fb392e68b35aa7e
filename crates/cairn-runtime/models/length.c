/* strlen, strnlen, wcslen. */
#include "models.h"

/* How much longer arguments are thought of. */
#define CAIRN_GROWTH 32

/* Where a string ends among its first `bound` bytes. Arguments may be longer in other inputs. */
static size_t cairn_length_within(const char *s, size_t bound) {
  size_t most = bound < CAIRN_WINDOW ? bound : CAIRN_WINDOW;
  size_t extent = cairn_window(s, most);
  const unsigned char *bytes = (const unsigned char *)s;
  unsigned char room[CAIRN_WINDOW + 1];
  bool cut = extent == CAIRN_WINDOW && extent < bound;
  if (extent < most && cairn_grows(s + extent - 1)) {
    size_t longer = most - extent < CAIRN_GROWTH ? most : extent + CAIRN_GROWTH;
    bytes = cairn_grown(room, bytes, extent, longer);
    extent = longer;
    cut = extent < bound;
  }
  size_t length = extent;
  for (size_t i = extent; i-- > 0;) length = bytes[i] == 0 ? i : length;
  if (cut) cairn_hold(length != extent);
  return length;
}

size_t cairn_strlen(const char *s) {
  s = cairn_settled(s);
  size_t length = strlen(s);
  if (!cairn_is_symbolic(s, length + 1)) return length;
  if (length >= CAIRN_WINDOW) return cairn_pinned_length(s);
  return cairn_length_within(s, SIZE_MAX);
}

size_t cairn_strnlen(const char *s, size_t most) {
  s = cairn_settled(s);
  size_t length = strnlen(s, most);
  if (!cairn_is_symbolic(s, length + 1) && !SYMBOLIC(most)) return length;
  if (length >= CAIRN_WINDOW) {
    for (length = 0; length < most && s[length] != 0; length++) {}
    return length;
  }

  size_t bound = cairn_concrete(most);
  cairn_hold(most <= bound);
  length = cairn_length_within(s, bound);
  return length < most ? length : most;
}

/* Wide strings are not followed past the end they have. */
size_t cairn_wcslen(const wchar_t *s) {
  s = cairn_settled(s);
  size_t length = wcslen(s);
  if (!cairn_is_symbolic(s, (length + 1) * sizeof *s)) return length;
  if (length >= CAIRN_WINDOW) {
    for (length = 0; s[length] != 0; length++) {}
    return length;
  }
  size_t extent = length + 1;
  length = extent;
  for (size_t i = extent; i-- > 0;) length = s[i] == 0 ? i : length;
  cairn_hold(length != extent);
  return length;
}
