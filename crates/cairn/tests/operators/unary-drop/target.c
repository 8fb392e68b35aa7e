int all_kinds(int a, double x) { return ~a + !a + -a + (int)-x; }

int in_a_condition(int a) {
  if (!a)
    return 1;
  return 2;
}

int main(void) { return 0; } // cairn: skip
