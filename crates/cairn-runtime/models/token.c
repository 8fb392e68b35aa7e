/* strtok, strtok_r, strsep. They write into the string, so they are paths: one condition for each byte passed. */
#include "models.h"

/* Whether a byte is one of a set, whatever its length, or the end of the string. */
static bool cairn_is_delimiter(char c, const char *set, size_t n_set) {
  return (c == 0) | cairn_is_member(c, set, n_set);
}

char *cairn_strtok_r(char *s, const char *delimiters, char **saved) {
  if (s == NULL) s = *saved;
  s = cairn_settled(s);
  delimiters = cairn_settled(delimiters);
  size_t n_set = cairn_pinned_length(delimiters);
  while (*s != 0 && cairn_is_member(*s, delimiters, n_set)) s++;
  if (*s == 0) {
    *saved = s;
    return NULL;
  }
  char *end = s + 1;
  while (!cairn_is_delimiter(*end, delimiters, n_set)) end++;
  if (*end == 0) {
    *saved = end;
    return s;
  }
  *end = 0;
  *saved = end + 1;
  return s;
}

static char *cairn_strtok_saved;

char *cairn_strtok(char *s, const char *delimiters) {
  return cairn_strtok_r(s, delimiters, &cairn_strtok_saved);
}

char *cairn_strsep(char **at, const char *delimiters) {
  char *begin = cairn_settled(*at);
  delimiters = cairn_settled(delimiters);
  if (begin == NULL) return NULL;
  size_t n_set = cairn_pinned_length(delimiters);
  char *end = begin;
  while (!cairn_is_delimiter(*end, delimiters, n_set)) end++;
  if (*end == 0) {
    *at = NULL;
  } else {
    *end = 0;
    *at = end + 1;
  }
  return begin;
}
