int in_a_while(long n, long least) {
  while (n > least)
    n /= 2;
  return n;
}

int main(void) { return 0; } // cairn: skip
