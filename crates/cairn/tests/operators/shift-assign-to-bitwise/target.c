unsigned on_unsigned(unsigned n, long by) {
  n <<= by;
  return n;
}

int main(void) { return 0; } // cairn: skip
