short on_a_short(short s, long by) {
  s >>= by;
  return s;
}

int main(void) { return 0; } // cairn: skip
