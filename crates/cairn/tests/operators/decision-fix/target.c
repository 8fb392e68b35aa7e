#include <ctype.h>
#include <sys/wait.h>

int all_kinds(int a, int b) {
  if (a > b)
    b++;
  while (a && b)
    a--, b--;
  for (int i = 0; i < b; i++)
    a += i;
  return a ? b : 3;
}

int on_system_macros(int c, int status) {
  while (isdigit(c))
    c--;
  return WIFEXITED(status) ? 2 : 3;
}

int main(void) { return 0; } // cairn: skip
