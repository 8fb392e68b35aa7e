int on_ints(int a, unsigned b) { return a + b; }

double on_doubles(double a, double b) { return a * b; }

int in_a_condition(int a) {
  if (a - 3)
    return 1;
  return 2;
}

int main(void) { return 0; } // cairn: skip
