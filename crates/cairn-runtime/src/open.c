/* What `open` becomes in a view, a member of its own in the archive: it is linked only where the program opens files.
 * See own_maps.rs for why.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>

int cairn_own_maps(const char *path);

#define OPEN(name, real)                                                                                               \
  int name(const char *path, int flags, ...) {                                                                         \
    int own = cairn_own_maps(path);                                                                                    \
    if (own >= 0) return own;                                                                                          \
    int mode = 0;                                                                                                      \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                                               \
      va_list rest;                                                                                                    \
      va_start(rest, flags);                                                                                           \
      mode = va_arg(rest, int);                                                                                        \
      va_end(rest);                                                                                                    \
    }                                                                                                                  \
    return real(path, flags, mode);                                                                                    \
  }

#undef open
int open64(const char *path, int flags, ...);
OPEN(cairn_open, open)
OPEN(cairn_open64, open64)
