/* CREST's macros.
 *
 * CREST_int(x) gives x a value. The variable is called as the expression is written: CREST_int(a[i]) asks for
 * `a[i]`, and when it is evaluated again for `a[i]#2`, `a[i]#3`, …: see cairn.h.
 */
#ifndef CAIRN_CREST_H
#define CAIRN_CREST_H

#include "cairn.h"

#define CREST_unsigned_char(x) ((void)((x) = cairn_uchar(#x)))
#define CREST_unsigned_short(x) ((void)((x) = cairn_ushort(#x)))
#define CREST_unsigned_int(x) ((void)((x) = cairn_uint(#x)))
#define CREST_char(x) ((void)((x) = cairn_char(#x)))
#define CREST_short(x) ((void)((x) = cairn_short(#x)))
#define CREST_int(x) ((void)((x) = cairn_int(#x)))

/* Later additions of CREST's descendants. */
#define CREST_long(x) ((void)((x) = cairn_long(#x)))
#define CREST_unsigned_long(x) ((void)((x) = cairn_ulong(#x)))
#define CREST_float(x) ((void)((x) = cairn_float(#x)))
#define CREST_double(x) ((void)((x) = cairn_double(#x)))

#endif
