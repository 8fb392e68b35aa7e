int in_a_condition(int a, int b) {
  if (a != b)
    return 1;
  return 0;
}

int on_pointers(const char *p, const char *q) { return p == q; }

int main(void) { return 0; } // cairn: skip
