int on_ints(int a, int b) {
  a ^= b;
  return a;
}

int main(void) { return 0; } // cairn: skip
