/* What a harness is judged by, wherever it runs: under Cairn these bytes are part of the outcome, elsewhere nobody
 * asks for them. */
#ifndef JUDGED_H
#define JUDGED_H

#include "cairn/cairn.h"
#include <string.h>

/* Absent when the harness is linked by another fuzzer. */
#pragma weak cairn_output

static inline void judged_bytes(const void *bytes, size_t length) {
  if (cairn_output)
    cairn_output(bytes, length);
}

static inline void judged_text(const char *text) {
  judged_bytes(text, strlen(text));
}

static inline void judged_number(long number) {
  judged_bytes(&number, sizeof number);
}

#endif
