int twice(int a, int b, int c) {
  if (a && (b || c))
    return 1;
  return 2;
}

int as_a_value(int a, int b) { return a || b; }

int over_lines(int a, int b) {
  return a
      && b;
}

int main(void) { return 0; } // cairn: skip
