int total;

int all_kinds(int a, unsigned char c) {
  total = a;
  a += 2;
  c <<= 1;
  return a + c;
}

int main(void) { return 0; } // cairn: skip
