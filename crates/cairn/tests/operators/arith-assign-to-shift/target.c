unsigned on_unsigned(unsigned n, int a) {
  n %= a;
  return n;
}

int main(void) { return 0; } // cairn: skip
