// What functions of ours that replace the C library's ask of the runtime.
#ifndef CAIRN_SYMBOLIC_H
#define CAIRN_SYMBOLIC_H

#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Bytes were read from a file at an offset. Those of other files, and those at negative offsets, lose their labels.
void cairn_symbolic_was_read(int fd, void *place, size_t length, int64_t offset);
// Labels of what a read returns.
uint32_t cairn_symbolic_next_byte(int fd, int64_t offset, int byte);
uint32_t cairn_symbolic_count(int fd, int64_t offset, uint64_t wanted, uint64_t count, uint64_t item);
uint32_t cairn_symbolic_at_end(int fd, int64_t offset, uint64_t otherwise, uint64_t at_end);
uint32_t cairn_symbolic_not_at_end(int fd, int64_t offset, uint64_t otherwise, uint64_t at_end);
// The label of where a file ends, and so many bytes behind that, if this is the place `at`.
uint32_t cairn_symbolic_from_end(int fd, int64_t offset, int64_t at);
// The label of whether a byte at an offset was looked for in vain, as an `int`.
uint32_t cairn_symbolic_met_end(int fd, int64_t offset, int is_met);
// The label of what `cairn_symbolic_count` would be, where how much was wanted has a label.
uint32_t cairn_symbolic_count_of(int fd, int64_t offset, uint32_t label, uint64_t wanted, uint64_t count);
// Something came that begins at an offset, where the program is not told by a result with a label.
void cairn_symbolic_begins(int fd, int64_t offset);
// A line was read that ends in `end`.
void cairn_symbolic_line(int fd, const void *place, size_t length, int64_t offset, int end);
// The label of the length of a line that was read, and of -1 if the file had ended; 0 if it is not followed.
uint32_t cairn_symbolic_line_length(int fd, int64_t offset, uint64_t length, int end);
// A file was opened that may not be a pipe nobody writes into.
void cairn_symbolic_opened(int fd);
// The program changes a file, which then no longer holds the input.
void cairn_symbolic_changes(int fd);
// Labels of arguments and results of functions of ours.
uint32_t cairn_symbolic_argument(uintptr_t function, uint32_t index);
void cairn_symbolic_return(uintptr_t function, uint32_t label);
// Labels of an `int` of a byte, and of the byte in an `int`.
uint32_t cairn_symbolic_widen(uint32_t label, int byte);
uint32_t cairn_symbolic_low_byte(uint32_t label, int value);
// A byte that is ASCII, without which it would be no character, or another.
void cairn_symbolic_ascii(uint32_t label, int byte);
// Something we follow only for one value.
void cairn_symbolic_pin(uint32_t label, uint64_t value);
// Labels of memory.
void cairn_symbolic_copy(void *to, const void *from, uint64_t length);
void cairn_symbolic_set(void *to, uint32_t label, uint64_t length);
uint32_t cairn_symbolic_load(const void *place, uint64_t size, uint64_t value);
void cairn_symbolic_store(void *place, uint64_t size, uint32_t label);
void cairn_symbolic_forget(const void *place, uint64_t length);
void cairn_symbolic_table(const void *start, uint64_t size);
void cairn_symbolic_mapped(const void *place, uint64_t length);
// The end of a trace, for a reason or for a child.
void cairn_symbolic_cut(uint32_t why);
void cairn_symbolic_stop(void);
// Something that is not followed.
void cairn_symbolic_unmodelled(const char *name);
int cairn_symbolic_process_id(void);

enum { CUT_THREAD = 3, CUT_EXEC = 5 };

#define RETURNS(function, label) cairn_symbolic_return((uintptr_t)(function), (label))

#endif
