long on_longs(long n, int by) {
  n <<= by;
  return n;
}

signed char on_a_byte(signed char c) {
  c >>= 1;
  return c;
}

int main(void) { return 0; } // cairn: skip
