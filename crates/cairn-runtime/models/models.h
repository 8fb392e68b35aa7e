/* What the models of libc share.
 *
 * A model computes what glibc's function computes, bit for bit, in code that is instrumented like the program. There
 * are two ways to write one, and most models have both:
 *
 * - As an *expression*: a loop over all bytes that could matter, whose bounds are concrete and whose body chooses by
 *   `?:` between values that are computed already. The compiler turns each choice into a `select`, so no branch
 *   depends on the input and the result holds for other inputs too: `strcmp(s, "magic") == 0` becomes one condition
 *   over five bytes.
 * - As a *path*: the loop one would write first. Each byte leaves a condition in the trace, and the result is right
 *   for inputs that meet them. This is for what changes memory, and for strings longer than a window.
 *
 * Models never define libc's own names. Whatever has such a name here is the real function: it is not instrumented,
 * and what it returns is concrete. They answer where nothing is symbolic, and whenever a model does not know better.
 */
#ifndef CAIRN_MODELS_H
#define CAIRN_MODELS_H

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

/* Truth values are joined by `&` and `|` on purpose: `&&` and `||` are branches. */
#pragma clang diagnostic ignored "-Wbitwise-conditional-parentheses"
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"

/* What models ask of the runtime. Their results have no labels, whatever their arguments have. */

/* Whether any of `n` bytes has a label. Reads the shadow only, so the bytes need not be there. */
int cairn_is_symbolic(const void *bytes, size_t n);

/* Whether `byte[0]` and `byte[1]` are neighbours in the same region of the input. The second then follows the first
 * whatever they hold, so a string that ends at the first in this run could go on with the second. The terminating
 * zero of an argument has no such neighbour. */
int cairn_continues(const void *byte);

/* Whether a string that goes up to this byte ends with it or right behind it, whatever the input: it has no label, or an
 * argument ends there, or a zero without a label follows. */
int cairn_ends(const void *byte);

/* Whether a string that ends with this byte is an argument, which may be longer in other inputs. */
int cairn_grows(const void *byte);

/* Writes the `n` bytes that an argument which ends with this byte has behind it: zeros, with labels. */
void cairn_beyond(void *place, size_t n, const void *byte);

/* The value without its label, and without a record. */
size_t cairn_concrete(size_t value);

/* For streams: copies what comes next of a part of the input, without reading it, and returns how many bytes there are; 0
 * if it is no part of the input. */
size_t cairn_next_bytes(FILE *stream, char *place, size_t room);

/* Where a stream is, in bytes. */
long cairn_place(FILE *stream);

/* How many bytes were read from a stream, which other bytes could change. */
void cairn_scanned(FILE *stream, size_t length);

/* A function with this name was given input and is not followed. */
void cairn_left_alone(const char *name);

/* How many bytes an expression may cover. With 0 there are only paths. */
#ifndef CAIRN_WINDOW
#define CAIRN_WINDOW 256
#endif

/* The same where both sides of a comparison come from the input, as in sorting: most are decided by the first bytes,
 * and nobody asks for all of the rest. */
#define CAIRN_BOTH_WINDOW (CAIRN_WINDOW < 16 ? CAIRN_WINDOW : 16)

/* How many pairs of bytes a search for a string may compare in an expression. */
#define CAIRN_PAIRS (16 * CAIRN_WINDOW)

/* How far past its end a number is looked for. */
#ifndef CAIRN_NUMBER_MARGIN
#define CAIRN_NUMBER_MARGIN 24
#endif

/* For functions that look at concrete values only. They stay functions so that a test can tell their branches from
 * those of models. */
#define CAIRN_CONCRETE __attribute__((noinline))

/* Whether a variable has a label. */
#define SYMBOLIC(variable) cairn_is_symbolic(&(variable), sizeof(variable))

/* The decimal digits, letters and white space of ASCII, without branches. Any `int` may be asked about. */
static inline bool cairn_in_range(int c, int first, int last) {
  return (unsigned)c - (unsigned)first <= (unsigned)last - (unsigned)first;
}

static inline bool cairn_ascii_space(int c) {
  return (c == ' ') | cairn_in_range(c, '\t', '\r');
}

static inline int cairn_ascii_lower(int c) {
  return cairn_in_range(c, 'A', 'Z') ? c + ('a' - 'A') : c;
}

static inline int cairn_ascii_upper(int c) {
  return cairn_in_range(c, 'a', 'z') ? c - ('a' - 'A') : c;
}

#endif
