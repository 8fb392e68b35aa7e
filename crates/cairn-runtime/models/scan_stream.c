/* fscanf and scanf.
 *
 * What comes next in a stream is looked at without reading it, and scanned like a string. Then the real function reads, and
 * what it stores, returns and leaves in the stream is what the program gets. How far it read depends on the input, too:
 * that is a condition as soon as somebody reads on. */
#include "models.h"

int cairn_real_vfscanf(FILE *stream, const char *format, va_list arguments) __asm__("vfscanf");
int __isoc99_vfscanf(FILE *stream, const char *format, va_list arguments);
int __isoc23_vfscanf(FILE *stream, const char *format, va_list arguments) __attribute__((weak));

/* How much of a stream is looked at. */
enum { CAIRN_SCAN_ROOM = 2 * 256 };

/* Scans a string of `n` bytes, which are all that is known, as `real` would; false if it should do so itself. */
static bool cairn_scan_known(const char *bytes, size_t n, const char *format, va_list arguments, bool binary,
                             int (*real)(const char *, const char *, va_list), int *result, size_t *consumed) {
  bool is_text = n > 0 && strlen(bytes) == n;
  if (!is_text || !cairn_is_symbolic(bytes, n) || cairn_is_symbolic(format, strlen(format) + 1)) return false;
  if (!cairn_ascii_locale() || cairn_scan_total(format) < 0) return false;
  va_list again;
  va_copy(again, arguments);
  int answer = real(bytes, format, again);
  va_end(again);
  if (!cairn_scan(bytes, format, binary, answer, arguments, result, consumed)) return false;
  return n < CAIRN_SCAN_ROOM || cairn_concrete(*consumed) + CAIRN_NUMBER_MARGIN < n;
}

static int cairn_scan_stream(FILE *stream, const char *format, va_list arguments, bool binary,
                             int (*real)(const char *, const char *, va_list),
                             int (*real_stream)(FILE *, const char *, va_list)) {
  char bytes[CAIRN_SCAN_ROOM + 1];
  size_t n = cairn_next_bytes(stream, bytes, CAIRN_SCAN_ROOM);
  bytes[n] = 0;
  int result = 0;
  size_t consumed = 0;
  va_list again;
  va_copy(again, arguments);
  int error = errno;
  bool followed = cairn_scan_known(bytes, n, format, again, binary, real, &result, &consumed);
  errno = error;
  va_end(again);

  long before = cairn_place(stream);
  int answer = real_stream(stream, format, arguments);
  if (n == 0) return answer;
  size_t read = (size_t)(cairn_place(stream) - before);
  if (!followed || cairn_concrete((size_t)result) != (size_t)answer) {
    cairn_left_alone("fscanf");
    return answer;
  }
  if (cairn_concrete(consumed) == read) {
    cairn_scanned(stream, consumed);
  } else if (read < n) {
    cairn_hold_bytes(bytes, read);
  }
  return result;
}

#define SCANF(name, v_name, stdin_name, v_stdin_name, binary, real, real_stream)                                       \
  int v_name(FILE *stream, const char *format, va_list arguments) {                                                    \
    return cairn_scan_stream(cairn_settled(stream), cairn_settled(format), arguments, binary, real, real_stream);      \
  }                                                                                                                    \
  int v_stdin_name(const char *format, va_list arguments) {                                                            \
    return cairn_scan_stream(stdin, cairn_settled(format), arguments, binary, real, real_stream);                      \
  }                                                                                                                    \
  int name(FILE *stream, const char *format, ...) {                                                                    \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    int result = v_name(stream, format, arguments);                                                                    \
    va_end(arguments);                                                                                                 \
    return result;                                                                                                     \
  }                                                                                                                    \
  int stdin_name(const char *format, ...) {                                                                            \
    va_list arguments;                                                                                                 \
    va_start(arguments, format);                                                                                       \
    int result = v_stdin_name(format, arguments);                                                                      \
    va_end(arguments);                                                                                                 \
    return result;                                                                                                     \
  }

SCANF(cairn_fscanf, cairn_vfscanf, cairn_scanf, cairn_vscanf, false, cairn_real_vsscanf, cairn_real_vfscanf)
SCANF(cairn_isoc99_fscanf, cairn_isoc99_vfscanf, cairn_isoc99_scanf, cairn_isoc99_vscanf, false, __isoc99_vsscanf,
      __isoc99_vfscanf)
SCANF(cairn_isoc23_fscanf, cairn_isoc23_vfscanf, cairn_isoc23_scanf, cairn_isoc23_vscanf, true, __isoc23_vsscanf,
      __isoc23_vfscanf)
#undef SCANF
