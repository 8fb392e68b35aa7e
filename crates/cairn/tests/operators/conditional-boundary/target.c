int on_ints(int a, int b) { return (a < b) + (a <= b) * 2 + (a > b) * 4 + (a >= b) * 8; }

int not_on_equality(int a, int b) { return a == b; }

int on_doubles(double x) {
  if (x > 1.5)
    return 1;
  return 0;
}

int main(void) { return 0; } // cairn: skip
