int on_operands(int a, int b) { return a && !b; }

int on_pointers(const char *p, int n) {
  if (p || n > 3)
    return 1;
  return 0;
}

int main(void) { return 0; } // cairn: skip
