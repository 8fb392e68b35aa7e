#include <ctype.h>
#include <sys/wait.h>

int on_ints(int a, int b) { return (a == b) + (a != b) * 2 + (a < b) * 4; }

int on_pointers(const char *p) {
  if (p != 0 && p[0] == 'x')
    return 1;
  return 0;
}

int on_system_macros(int c, int status) {
  if (isdigit(c) && !isspace(c + 1))
    return 1;
  return WIFEXITED(status) ? 2 : 3;
}

int main(void) { return 0; } // cairn: skip
