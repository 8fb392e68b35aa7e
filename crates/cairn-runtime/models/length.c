/* strlen, strnlen, wcslen. */
#include "models.h"

size_t cairn_strlen(const char *s) {
  s = cairn_settled(s);
  size_t length = strlen(s);
  if (!cairn_is_symbolic(s, length + 1)) return length;
  if (length >= CAIRN_WINDOW) return cairn_pinned_length(s);

  size_t extent = cairn_window(s, CAIRN_WINDOW);
  length = extent;
  for (size_t i = extent; i-- > 0;) length = s[i] == 0 ? i : length;
  if (extent == CAIRN_WINDOW) cairn_hold(length != extent);
  return length;
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
  size_t extent = cairn_window(s, bound < CAIRN_WINDOW ? bound : CAIRN_WINDOW);
  length = extent;
  for (size_t i = extent; i-- > 0;) length = s[i] == 0 ? i : length;
  if (extent == CAIRN_WINDOW && extent < bound) cairn_hold(length != extent);
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
