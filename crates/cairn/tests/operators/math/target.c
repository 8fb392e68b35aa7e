int all_of_them(int a, int b) {
  int sum = a + b - a * b;
  if (b)
    sum = sum / b % 7;
  sum &= a | b;
  return sum ^ a << 2 >> b;
}

double on_doubles(double x) { return x * 0.5; }

int main(void) { return 0; } // cairn: skip
