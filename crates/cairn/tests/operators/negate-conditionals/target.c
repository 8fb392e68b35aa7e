int on_ints(int a, int b) { return (a == b) + (a != b) * 2 + (a < b) * 4; }

int on_pointers(const char *p) {
  if (p != 0 && p[0] == 'x')
    return 1;
  return 0;
}

int main(void) { return 0; } // cairn: skip
