/* strcpy and its kin. How many bytes they write depends on where strings end, so they are paths.
 *
 * memcpy, memmove and memset are no models: the pass copies labels along. What is here uses them where it can.
 */
#include "models.h"

char *cairn_stpcpy(char *to, const char *from) {
  to = cairn_settled(to);
  from = cairn_settled(from);
  size_t length = cairn_pinned_length(from);
  memcpy(to, from, length + 1);
  return to + length;
}

char *cairn_strcpy(char *to, const char *from) {
  cairn_stpcpy(to, from);
  return to;
}

/* The length of a string of at most `most` bytes, as a path. */
static size_t cairn_pinned_length_within(const char *s, size_t most) {
  size_t length = strnlen(s, most);
  if (!cairn_is_symbolic(s, length < most ? length + 1 : length) && !SYMBOLIC(most)) return length;
  for (length = 0; length < most && s[length] != 0; length++) {}
  return length;
}

char *cairn_stpncpy(char *to, const char *from, size_t n) {
  to = cairn_settled(to);
  from = cairn_settled(from);
  size_t length = cairn_pinned_length_within(from, n);
  memcpy(to, from, length);
  memset(to + length, 0, n - length);
  return to + length;
}

char *cairn_strncpy(char *to, const char *from, size_t n) {
  cairn_stpncpy(to, from, n);
  return to;
}

char *cairn_strcat(char *to, const char *from) {
  to = cairn_settled(to);
  cairn_stpcpy(to + cairn_pinned_length(to), from);
  return to;
}

char *cairn_strncat(char *to, const char *from, size_t n) {
  to = cairn_settled(to);
  from = cairn_settled(from);
  size_t length = cairn_pinned_length_within(from, n);
  char *end = to + cairn_pinned_length(to);
  memcpy(end, from, length);
  end[length] = 0;
  return to;
}

char *cairn_strdup(const char *s) {
  s = cairn_settled(s);
  size_t size = cairn_pinned_length(s) + 1;
  char *copy = malloc(size);
  if (copy) memcpy(copy, s, size);
  return copy;
}

char *cairn_strndup(const char *s, size_t n) {
  s = cairn_settled(s);
  size_t length = cairn_pinned_length_within(s, n);
  char *copy = malloc(length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, s, length);
  copy[length] = 0;
  return copy;
}

void *cairn_mempcpy(void *to, const void *from, size_t n) {
  to = cairn_settled(to);
  from = cairn_settled(from);
  memcpy(to, from, n);
  return (char *)to + n;
}

void *cairn_memccpy(void *to, const void *from, int character, size_t n) {
  to = cairn_settled(to);
  from = cairn_settled(from);
  const unsigned char *bytes = from;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] == (unsigned char)character) return cairn_mempcpy(to, from, i + 1);
  }
  memcpy(to, from, n);
  return NULL;
}
