static int global;

int of_the_same_type(int a, int b, long c) {
  int d = a;
  {
    int inner = b + 1;
    d += inner;
  }
  global = d;
  return d + (int)c;
}

int assigned(int a, int b) {
  a = 5;
  return a + b;
}

int main(void) { return 0; } // cairn: skip
