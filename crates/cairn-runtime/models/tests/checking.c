/* What `_FORTIFY_SOURCE` makes of calls ends the program exactly where glibc does. */
#include "declarations.h"
#include "expect.h"
#include <sys/wait.h>
#include <unistd.h>

char *__strcpy_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__stpncpy_chk(char *, const char *, size_t, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__strncat_chk(char *, const char *, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
int __sprintf_chk(char *, int, size_t, const char *, ...);

static size_t room;

static void describe(void) {
  fprintf(stderr, "  with room for %zu bytes\n", room);
}

/* How a call ends: 0, or the signal. */
#define END(call)                                                                                                      \
  ({                                                                                                                   \
    int status;                                                                                                        \
    pid_t child = fork();                                                                                              \
    if (child == 0) {                                                                                                  \
      char to[64] = "ab";                                                                                              \
      close(2);                                                                                                        \
      call;                                                                                                            \
      _exit(0);                                                                                                        \
    }                                                                                                                  \
    if (waitpid(child, &status, 0) != child) abort();                                                                  \
    WTERMSIG(status);                                                                                                  \
  })

#define COMPARE(name, ...) EXPECT(#name, END(__##name(__VA_ARGS__)), END(cairn_##name(__VA_ARGS__)))

int main(void) {
  make_arenas();
  char *s = arena[0];
  strcpy(s, "cdefg");
  label(0, s, 6);
  for (room = 3; room < 10; room++) {
    COMPARE(strcpy_chk, to, s, room);
    COMPARE(stpcpy_chk, to, s, room);
    COMPARE(strncpy_chk, to, s, 6, room);
    COMPARE(stpncpy_chk, to, s, 6, room);
    COMPARE(strcat_chk, to, s, room);
    COMPARE(strncat_chk, to, s, 4, room);
    COMPARE(mempcpy_chk, to, s, 6, room);
    COMPARE(snprintf_chk, to, 6, 1, room, "%s", s);
    COMPARE(sprintf_chk, to, 1, room, "%s", s);
  }
  return finish();
}
