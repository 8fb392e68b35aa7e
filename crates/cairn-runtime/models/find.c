/* strchr, memchr and their kin: the address of a byte. */
#include "models.h"

char *cairn_strchr(const char *s, int character) {
  s = cairn_settled(s);
  size_t looked_at = (size_t)(strchrnul(s, character) - s) + 1;
  if (!SYMBOLIC(character) && !cairn_is_symbolic(s, looked_at)) return strchr(s, character);

  char wanted = (char)character;
  if (looked_at > CAIRN_WINDOW) {
    for (;; s++) {
      if (*s == wanted) return (char *)s;
      if (*s == 0) return NULL;
    }
  }
  size_t extent = cairn_window(s, CAIRN_WINDOW);
  bool cut = extent == CAIRN_WINDOW;
  char *beyond = cut ? (char *)s + extent : NULL;
  char *result = beyond;
  for (size_t i = extent; i-- > 0;) {
    char *rest = s[i] == 0 ? NULL : result;
    result = s[i] == wanted ? (char *)s + i : rest;
  }
  if (cut) cairn_hold(result != beyond);
  return result;
}

char *cairn_strchrnul(const char *s, int character) {
  s = cairn_settled(s);
  size_t looked_at = (size_t)(strchrnul(s, character) - s) + 1;
  if (!SYMBOLIC(character) && !cairn_is_symbolic(s, looked_at)) return (char *)s + looked_at - 1;

  char wanted = (char)character;
  if (looked_at > CAIRN_WINDOW) {
    while (*s != wanted && *s != 0) s++;
    return (char *)s;
  }
  size_t extent = cairn_window(s, CAIRN_WINDOW);
  char *result = (char *)s + extent;
  for (size_t i = extent; i-- > 0;) result = (s[i] == wanted) | (s[i] == 0) ? (char *)s + i : result;
  if (extent == CAIRN_WINDOW) cairn_hold(result != s + extent);
  return result;
}

char *cairn_strrchr(const char *s, int character) {
  s = cairn_settled(s);
  size_t length = strlen(s);
  if (!SYMBOLIC(character) && !cairn_is_symbolic(s, length + 1)) return strrchr(s, character);

  char wanted = (char)character;
  char *result = NULL;
  if (length >= CAIRN_WINDOW) {
    for (;; s++) {
      if (*s == wanted) result = (char *)s;
      if (*s == 0) return result;
    }
  }
  size_t extent = cairn_window(s, CAIRN_WINDOW);
  bool open = true;
  for (size_t i = 0; i < extent; i++) {
    result = open & (s[i] == wanted) ? (char *)s + i : result;
    open &= s[i] != 0;
  }
  if (extent == CAIRN_WINDOW) cairn_hold(!open);
  return result;
}

void *cairn_memchr(const void *where, int character, size_t n) {
  where = cairn_settled(where);
  const unsigned char *bytes = where;
  size_t count = cairn_concrete(n);
  const unsigned char *found = memchr(bytes, character, count);
  size_t looked_at = found ? (size_t)(found - bytes) + 1 : count;
  if (!SYMBOLIC(character) && !SYMBOLIC(n) && !cairn_is_symbolic(bytes, looked_at)) return (void *)found;

  unsigned char wanted = (unsigned char)character;
  if (looked_at > CAIRN_WINDOW) {
    for (size_t i = 0; i < n; i++) {
      if (bytes[i] == wanted) return (void *)(bytes + i);
    }
    return NULL;
  }
  cairn_hold(n <= count);
  /* After the first find there need not be more bytes, whatever the size says, unless the input has them. */
  size_t window = cairn_extend(bytes, looked_at, count < CAIRN_WINDOW ? count : CAIRN_WINDOW);
  bool cut = window < count;
  void *beyond = cut ? (void *)(bytes + window) : NULL;
  void *result = beyond;
  for (size_t i = window; i-- > 0;) {
    void *rest = i < n ? result : NULL;
    result = (i < n) & (bytes[i] == wanted) ? (void *)(bytes + i) : rest;
  }
  if (cut) cairn_hold(result != beyond);
  return result;
}

void *cairn_memrchr(const void *where, int character, size_t n) {
  where = cairn_settled(where);
  const unsigned char *bytes = where;
  size_t count = cairn_concrete(n);
  if (!SYMBOLIC(character) && !SYMBOLIC(n) && !cairn_is_symbolic(bytes, count)) return memrchr(bytes, character, n);

  unsigned char wanted = (unsigned char)character;
  if (count > CAIRN_WINDOW) {
    for (size_t i = n; i-- > 0;) {
      if (bytes[i] == wanted) return (void *)(bytes + i);
    }
    return NULL;
  }
  cairn_hold(n <= count);
  void *result = NULL;
  for (size_t i = 0; i < count; i++) result = (i < n) & (bytes[i] == wanted) ? (void *)(bytes + i) : result;
  return result;
}

/* There is no end but the byte itself, so this is a path. */
void *cairn_rawmemchr(const void *where, int character) {
  where = cairn_settled(where);
  const unsigned char *bytes = where;
  while (*bytes != (unsigned char)character) bytes++;
  return (void *)bytes;
}
