// Streams of wide characters. Those that are ASCII are followed, one byte each; that they stay ASCII is a demand. Whatever else
// is read is named as not followed.
#include "symbolic.h"
#include <string.h>
#include <unistd.h>
#include <wchar.h>

// Where a stream is in its file, of which characters may have been converted that nobody has asked for yet. errno stays.
static int64_t position(FILE *stream) {
  int before = errno;
  int64_t at = ftello(stream);
  errno = before;
  return at;
}

// Copies the bytes that a file has at a place, and labels them. Whether there are so many.
static int look_at(FILE *stream, char *bytes, size_t length, int64_t at) {
  int before = errno;
  ssize_t count = at < 0 ? -1 : pread(fileno(stream), bytes, length, at);
  errno = before;
  if (count != (ssize_t)length) return 0;
  cairn_symbolic_was_read(fileno(stream), bytes, length, at);
  return 1;
}

// Whether a character was made of one byte, as all that are ASCII.
static int is_ascii(wint_t wide, char byte) { return wide < 0x80 && (char)wide == byte; }

// The label of the byte of a file that a character begins with; of its first byte, if nobody knows where the stream is.
static uint32_t label_of_byte(FILE *stream, int64_t at, char *byte) {
  if (!look_at(stream, byte, 1, at < 0 ? 0 : at)) return 0;
  uint32_t label = cairn_symbolic_load(byte, 1, (unsigned char)*byte);
  cairn_symbolic_set(byte, 0, 1);
  return label;
}

// What a stream gave when it was `at` some place is not followed: that is told, if it comes from the input.
static void not_followed(FILE *stream, int64_t at, const char *name) {
  char byte;
  if (label_of_byte(stream, at, &byte) != 0) cairn_symbolic_unmodelled(name);
}

// The label of a character that a stream gave when it was `at` some place.
static uint32_t label_of_next(FILE *stream, int64_t at, wint_t wide, const char *name) {
  if (wide == WEOF && feof(stream)) return cairn_symbolic_next_byte(fileno(stream), at, EOF);
  char byte;
  uint32_t label = label_of_byte(stream, at, &byte);
  if (label == 0) return 0;
  // Bytes may be no character at all, and one that was pushed back need not be the file's.
  if (wide == WEOF || !is_ascii(wide, byte) || at < 0 || position(stream) != at + 1) {
    cairn_symbolic_unmodelled(name);
    return 0;
  }
  cairn_symbolic_ascii(label, byte);
  return cairn_symbolic_next_byte(fileno(stream), at, byte);
}

#define NEXT_CHARACTER(name, real, parameters, stream, arguments)                    \
  wint_t name parameters {                                                           \
    int64_t at = position(stream);                                                   \
    wint_t wide = real arguments;                                                    \
    RETURNS(name, label_of_next(stream, at, wide, #real));                           \
    return wide;                                                                     \
  }
NEXT_CHARACTER(cairn_fgetwc, fgetwc, (FILE *stream), stream, (stream))
NEXT_CHARACTER(cairn_getwchar, getwchar, (void), stdin, ())

// Longer lines are not followed.
enum { MAX_LINE = 512 };

wchar_t *cairn_fgetws(wchar_t *place, int length, FILE *stream) {
  int64_t at = position(stream);
  wchar_t *line = fgetws(place, length, stream);
  if (!line) {
    if (feof(stream)) RETURNS(cairn_fgetws, cairn_symbolic_at_end(fileno(stream), at, (uintptr_t)place, 0));
    else not_followed(stream, at, "fgetws");
    return line;
  }
  size_t n = wcslen(line);
  cairn_symbolic_set(place, 0, (n + 1) * sizeof *place);
  char bytes[MAX_LINE];
  size_t n_followed = 0;
  if (n <= MAX_LINE && position(stream) == at + (int64_t)n && look_at(stream, bytes, n, at)) {
    while (n_followed < n && is_ascii((wint_t)place[n_followed], bytes[n_followed])) n_followed++;
  }
  if (n_followed < n) {
    not_followed(stream, at, "fgetws");
    return line;
  }
  uint32_t label = cairn_symbolic_not_at_end(fileno(stream), at, (uintptr_t)place, 0);
  if (label == 0) cairn_symbolic_begins(fileno(stream), at);
  for (size_t i = 0; i < n; i++) {
    uint32_t byte = cairn_symbolic_load(&bytes[i], 1, (unsigned char)bytes[i]);
    if (byte == 0) continue;
    cairn_symbolic_ascii(byte, bytes[i]);
    cairn_symbolic_store(&place[i], sizeof *place, cairn_symbolic_widen(byte, bytes[i]));
  }
  cairn_symbolic_line(fileno(stream), bytes, n, at, '\n');
  cairn_symbolic_set(bytes, 0, n);
  RETURNS(cairn_fgetws, label);
  return line;
}
