// Streams of the C library: labels follow from where a stream is in its file, and from what the program has pushed back.
#include "symbolic.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Where a stream is that has no place in a file.
#define NOWHERE INT64_MIN

// glibc's mark of a stream that reads from the bytes that were pushed back, its file's being kept aside.
#define IN_BACKUP 0x100

// Where a stream is: what was read from its file, less what is still in its buffers. errno stays.
static int64_t file_position(FILE *stream) {
  int before = errno;
  off_t at = lseek(fileno(stream), 0, SEEK_CUR);
  errno = before;
  if (at < 0) return NOWHERE;
  int64_t left = stream->_IO_read_end - stream->_IO_read_ptr;
  if (stream->_flags & IN_BACKUP) left += stream->_IO_save_end - stream->_IO_save_base;
  return at - left;
}

// A byte that the program has pushed back, and where its stream was then.
struct pushed {
  FILE *stream;
  int64_t at;
  uint32_t label;
};

enum { MAX_PUSHED = 64 };
static struct pushed pushed[MAX_PUSHED];
static unsigned n_pushed;

// How much the last scan of a stream read, if other bytes would have made it another length.
static struct {
  FILE *stream;
  uint32_t label;
  uint64_t length;
} scanned;

// The stream that was sent to the end of its file last, and how far behind it.
static struct {
  FILE *stream;
  int64_t offset;
} at_end;

// The stream that was asked for one byte last, and where it was.
static struct {
  FILE *stream;
  int64_t at;
} asked;

// What is known of a stream no longer holds.
static void forget_pushed(FILE *stream) {
  unsigned kept = 0;
  for (unsigned i = 0; i < n_pushed; i++) {
    if (pushed[i].stream != stream) pushed[kept++] = pushed[i];
  }
  n_pushed = kept;
}

static void forget(FILE *stream) {
  forget_pushed(stream);
  if (scanned.stream == stream) scanned.stream = NULL;
  if (at_end.stream == stream) at_end.stream = NULL;
  if (asked.stream == stream) asked.stream = NULL;
}

void cairn_stream_is_new(FILE *stream) { forget(stream); }

// Where a stream is. What comes next is followed only if it begins there.
static int64_t position(FILE *stream) {
  if (asked.stream == stream) asked.stream = NULL;
  if (scanned.stream == stream) {
    scanned.stream = NULL;
    cairn_symbolic_pin(scanned.label, scanned.length);
  }
  return file_position(stream);
}

// The byte that was pushed back last and is the next that `stream` gives, when it is `at` some place.
static struct pushed *next_pushed(FILE *stream, int64_t at) {
  for (unsigned i = n_pushed; i-- > 0;) {
    if (pushed[i].stream != stream) continue;
    if (pushed[i].at == at) return &pushed[i];
    // Somebody we do not know has read it.
    forget_pushed(stream);
    break;
  }
  return NULL;
}

static uint32_t take(struct pushed *byte) {
  uint32_t label = byte->label;
  n_pushed--;
  memmove(byte, byte + 1, (size_t)((char *)&pushed[n_pushed] - (char *)byte));
  return label;
}

// A stream that was `at` some place has given bytes: first those pushed back, then its file's.
static void arrived(FILE *stream, char *place, size_t length, int64_t at) {
  struct pushed *byte;
  while (length > 0 && (byte = next_pushed(stream, at)) != NULL) {
    cairn_symbolic_set(place, take(byte), 1);
    place++;
    length--;
    at++;
  }
  cairn_symbolic_was_read(fileno(stream), place, length, at);
}

// How many bytes a stream has given.
static size_t given(FILE *stream, int64_t at, size_t otherwise) {
  int64_t end = file_position(stream);
  return at != NOWHERE && end >= at ? (size_t)(end - at) : otherwise;
}

int cairn_ungetc(int byte, FILE *stream) {
  position(stream);
  uint32_t label = cairn_symbolic_low_byte(cairn_symbolic_argument((uintptr_t)cairn_ungetc, 0), byte);
  int result = ungetc(byte, stream);
  if (result == EOF) return result;
  if (n_pushed == MAX_PUSHED) {
    memmove(pushed, pushed + 1, sizeof pushed - sizeof *pushed);
    n_pushed--;
  }
  pushed[n_pushed++] = (struct pushed){stream, file_position(stream), label};
  return result;
}

size_t cairn_fread(void *place, size_t size, size_t n, FILE *stream) {
  int64_t at = position(stream);
  size_t count = fread(place, size, n, stream);
  arrived(stream, place, given(stream, at, count * size), at);
  uint32_t label = size == 1 ? cairn_symbolic_argument((uintptr_t)cairn_fread, 2) : 0;
  if (label) RETURNS(cairn_fread, cairn_symbolic_count_of(fileno(stream), at, label, n, count));
  else if (size > 0) RETURNS(cairn_fread, cairn_symbolic_count(fileno(stream), at, n * size, count * size, size));
  return count;
}

char *cairn_fgets(char *place, int length, FILE *stream) {
  int64_t at = position(stream);
  char *line = fgets(place, length, stream);
  if (!line) {
    RETURNS(cairn_fgets, cairn_symbolic_at_end(fileno(stream), at, (uintptr_t)place, 0));
    return line;
  }
  size_t bytes = given(stream, at, strlen(line));
  // A byte that was pushed back comes whether the file has ended or not.
  uint32_t label = 0;
  if (!next_pushed(stream, at)) label = cairn_symbolic_not_at_end(fileno(stream), at, (uintptr_t)place, 0);
  arrived(stream, place, bytes, at);
  cairn_symbolic_set(place + bytes, 0, 1);
  if (label == 0) cairn_symbolic_begins(fileno(stream), at);
  cairn_symbolic_line(fileno(stream), place, bytes, at, '\n');
  RETURNS(cairn_fgets, label);
  return line;
}

// The label of the next byte of a stream.
static uint32_t label_of_next(FILE *stream, int64_t at, int byte) {
  struct pushed *known = next_pushed(stream, at);
  if (known) return cairn_symbolic_widen(take(known), byte);
  asked.stream = stream;
  asked.at = at;
  return cairn_symbolic_next_byte(fileno(stream), at, byte);
}

#define NEXT_BYTE(name, real)                       \
  int name(FILE *stream) {                          \
    int64_t at = position(stream);                  \
    int byte = real(stream);                        \
    RETURNS(name, label_of_next(stream, at, byte)); \
    return byte;                                    \
  }
NEXT_BYTE(cairn_fgetc, fgetc)
NEXT_BYTE(cairn_fgetc_unlocked, fgetc_unlocked)

int cairn_getchar(void) {
  int64_t at = position(stdin);
  int byte = getchar();
  RETURNS(cairn_getchar, label_of_next(stdin, at, byte));
  return byte;
}

static ssize_t read_line(char **line, size_t *size, int end, FILE *stream, uintptr_t function) {
  int64_t at = position(stream);
  char *old = *line;
  size_t old_size = *size;
  ssize_t length = getdelim(line, size, end, stream);
  if (*line != old || *size != old_size) {
    cairn_symbolic_set(line, 0, sizeof *line);
    cairn_symbolic_set(size, 0, sizeof *size);
  }
  if (length < 0) {
    // If the file had more, at least one byte would have come.
    cairn_symbolic_return(function, cairn_symbolic_at_end(fileno(stream), at, 1, (uint64_t)-1));
    return length;
  }
  // A byte that was pushed back comes whether the file has ended or not.
  bool is_pushed = next_pushed(stream, at) != NULL;
  arrived(stream, *line, length, at);
  cairn_symbolic_set(*line + length, 0, 1);
  uint32_t label = is_pushed ? 0 : cairn_symbolic_line_length(fileno(stream), at, (uint64_t)length, end);
  if (label != 0) {
    cairn_symbolic_return(function, label);
    return length;
  }
  if (!is_pushed) label = cairn_symbolic_not_at_end(fileno(stream), at, (uint64_t)length, (uint64_t)-1);
  if (label == 0) cairn_symbolic_begins(fileno(stream), at);
  cairn_symbolic_line(fileno(stream), *line, length, at, end);
  cairn_symbolic_return(function, label);
  return length;
}

ssize_t cairn_getdelim(char **line, size_t *size, int end, FILE *stream) {
  return read_line(line, size, end, stream, (uintptr_t)cairn_getdelim);
}

ssize_t cairn_getline(char **line, size_t *size, FILE *stream) {
  return read_line(line, size, '\n', stream, (uintptr_t)cairn_getline);
}

// Whether a stream met the end of its file follows from its size if it was asked for one byte.
#define FEOF(name, real)                                                                                    \
  int name(FILE *stream) {                                                                                  \
    int is_met = real(stream);                                                                              \
    if (asked.stream == stream) RETURNS(name, cairn_symbolic_met_end(fileno(stream), asked.at, is_met)); \
    return is_met;                                                                                          \
  }
FEOF(cairn_feof, feof)
FEOF(cairn_feof_unlocked, feof_unlocked)

// Where a stream goes elsewhere, it drops what was pushed back.
int cairn_fseeko(FILE *stream, off_t offset, int whence) {
  position(stream);
  forget(stream);
  int result = fseeko(stream, offset, whence);
  if (result == 0 && whence == SEEK_END) {
    at_end.stream = stream;
    at_end.offset = offset;
  }
  return result;
}

int cairn_fseek(FILE *stream, long offset, int whence) { return cairn_fseeko(stream, offset, whence); }

off_t cairn_ftello(FILE *stream) {
  off_t at = ftello(stream);
  if (at_end.stream == stream) {
    RETURNS(cairn_ftello, cairn_symbolic_from_end(fileno(stream), at_end.offset, at));
  }
  return at;
}

void cairn_rewind(FILE *stream) {
  forget(stream);
  rewind(stream);
}

int cairn_fsetpos(FILE *stream, const fpos_t *place) {
  position(stream);
  forget(stream);
  return fsetpos(stream, place);
}

int cairn_fclose(FILE *stream) {
  forget(stream);
  return fclose(stream);
}

// For models of scans: copies what comes next of a part of the input, at most `room` bytes, and returns how many there are;
// 0 if it is no part of the input, or not only.
size_t cairn_next_bytes(FILE *stream, char *place, size_t room) {
  int64_t at = position(stream);
  if (at < 0 || next_pushed(stream, at)) return 0;
  int before = errno;
  ssize_t count = pread(fileno(stream), place, room, at);
  errno = before;
  if (count <= 0) return 0;
  cairn_symbolic_was_read(fileno(stream), place, count, at);
  return count;
}

// For models of scans: where a stream is.
long cairn_place(FILE *stream) { return file_position(stream); }

// For models: a function that is not followed was given input.
void cairn_left_alone(const char *name) { cairn_symbolic_unmodelled(name); }

// For models of scans: how many bytes were read, which other bytes would have made another number.
void cairn_scanned(FILE *stream, size_t length) {
  uint32_t label = cairn_symbolic_argument((uintptr_t)cairn_scanned, 1);
  if (label == 0) return;
  scanned.stream = stream;
  scanned.label = label;
  scanned.length = length;
}
