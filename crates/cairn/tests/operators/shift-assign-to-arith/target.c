unsigned on_unsigned(unsigned n) {
  n >>= 4;
  return n;
}

int main(void) { return 0; } // cairn: skip
