/* What `_FORTIFY_SOURCE` makes of calls: the size of the destination comes along. Where it does not suffice the real
 * function ends the program; otherwise these are the models without it. */
#include "models.h"

void __chk_fail(void) __attribute__((noreturn));

/* Ends the program if `needed` bytes do not fit. */
static void cairn_check_room(size_t needed, size_t room) {
  if (cairn_concrete(needed) > cairn_concrete(room)) __chk_fail();
}

char *cairn_strcpy_chk(char *to, const char *from, size_t room) {
  cairn_check_room(strlen(from) + 1, room);
  return cairn_strcpy(to, from);
}

char *cairn_stpcpy_chk(char *to, const char *from, size_t room) {
  cairn_check_room(strlen(from) + 1, room);
  return cairn_stpcpy(to, from);
}

char *cairn_strncpy_chk(char *to, const char *from, size_t n, size_t room) {
  cairn_check_room(n, room);
  return cairn_strncpy(to, from, n);
}

char *cairn_stpncpy_chk(char *to, const char *from, size_t n, size_t room) {
  cairn_check_room(n, room);
  return cairn_stpncpy(to, from, n);
}

char *cairn_strcat_chk(char *to, const char *from, size_t room) {
  cairn_check_room(strlen(to) + strlen(from) + 1, room);
  return cairn_strcat(to, from);
}

char *cairn_strncat_chk(char *to, const char *from, size_t n, size_t room) {
  cairn_check_room(strlen(to) + strnlen(from, n) + 1, room);
  return cairn_strncat(to, from, n);
}

void *cairn_mempcpy_chk(void *to, const void *from, size_t n, size_t room) {
  cairn_check_room(n, room);
  return cairn_mempcpy(to, from, n);
}

int cairn_vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list arguments) {
  (void)flag;
  cairn_check_room(size, room);
  return cairn_vsnprintf(to, size, format, arguments);
}

int cairn_snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = cairn_vsnprintf_chk(to, size, flag, room, format, arguments);
  va_end(arguments);
  return length;
}

int cairn_vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments) {
  (void)flag;
  va_list copy;
  va_copy(copy, arguments);
  int length = vsnprintf(NULL, 0, format, copy);
  va_end(copy);
  if (length >= 0) cairn_check_room((size_t)length + 1, room);
  return cairn_vsprintf(to, format, arguments);
}

int cairn_sprintf_chk(char *to, int flag, size_t room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = cairn_vsprintf_chk(to, flag, room, format, arguments);
  va_end(arguments);
  return length;
}

int cairn_vasprintf_chk(char **to, int flag, const char *format, va_list arguments) {
  (void)flag;
  return cairn_vasprintf(to, format, arguments);
}

int cairn_asprintf_chk(char **to, int flag, const char *format, ...) {
  (void)flag;
  va_list arguments;
  va_start(arguments, format);
  int length = cairn_vasprintf(to, format, arguments);
  va_end(arguments);
  return length;
}
