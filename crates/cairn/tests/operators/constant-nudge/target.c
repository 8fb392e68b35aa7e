int table[10];

int of_ints(int n) {
  for (int i = 0; i < 10; i++)
    n += table[i] * 3;
  return n;
}

unsigned char of_characters(unsigned char c) { return c - '0'; }

int main(void) { return 0; } // cairn: skip
