int as_a_value(int a, int b) { return a && b; }

int in_a_condition(int a, int b) {
  if (a || b)
    return 1;
  return 0;
}

int nested(int a, int b, int c) { return a && b && c; }

int main(void) { return 0; } // cairn: skip
