/* Asking Cairn for input by name.
 *
 * A program that takes its input from these functions needs no files or arguments: Cairn chooses the values, and
 * the program can be run by hand with them:
 *
 *     CAIRN_VARIABLES='n=5 x=0.25 key=hex:00ff' ./program
 *
 * Asking for the same name again gives another variable: the first request of "n" gets `n`, the second `n#2`, the
 * third `n#3`. So a loop may ask for as many values as it likes. A variable that was given no value is 0, or the
 * bound nearest to 0. A value of another type or size than asked for ends the run.
 *
 * In CAIRN_VARIABLES entries are separated by white space. Integers are decimal or 0x…, floating-point numbers
 * decimal, memory hex:…. In a name write white space, `=` and `%` as `%20`, `%3D` and `%25`.
 */
#ifndef CAIRN_H
#define CAIRN_H

#include <stddef.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

char cairn_char(const char *name);
signed char cairn_schar(const char *name);
unsigned char cairn_uchar(const char *name);
short cairn_short(const char *name);
unsigned short cairn_ushort(const char *name);
int cairn_int(const char *name);
unsigned int cairn_uint(const char *name);
long cairn_long(const char *name);
unsigned long cairn_ulong(const char *name);
/* Not in C90. */
__extension__ bool cairn_bool(const char *name);
float cairn_float(const char *name);
double cairn_double(const char *name);

/* Between least and greatest, both included. A value outside is a false assumption. */
int cairn_int_range(const char *name, int least, int greatest);
double cairn_double_range(const char *name, double least, double greatest);

/* Fills length bytes at memory. */
void cairn_bytes(const char *name, void *memory, size_t length);

/* Ends the run unless the condition holds: the program has no use for such an input. This is neither a failure nor
 * a success, and Cairn reports it as what it is. Run by hand, the program exits with 121. */
void cairn_assume(int condition);

/* Makes these bytes part of what the run is judged by. Useful in LLVMFuzzerTestOneInput harnesses, which otherwise
 * have only a return value. May be called several times; the bytes follow each other. */
void cairn_output(const void *bytes, size_t length);

/* Defined by a program that knows better than byte by byte whether two outputs are the same, of the original and of a
 * mutant: 0 if they are. It is asked where they differ, about what was passed to cairn_output or else about standard
 * output, in a process of its own in which `main` does not run. A crash in it is reported and kills no mutant. */
int cairn_compare(const void *original, size_t original_length, const void *mutant, size_t mutant_length);

#ifdef __cplusplus
}
#endif

#endif
