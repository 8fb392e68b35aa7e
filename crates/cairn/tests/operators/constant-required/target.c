#define LIMIT 12

int of_ints(int n) {
  if (n > 100)
    return 7;
  return n < LIMIT ? 'x' : 0x10;
}

double of_doubles(double x) { return x + 1.5; }

enum colour { RED, GREEN };

int of_enumerators(enum colour c) { return c == GREEN; }

int main(void) { return 0; } // cairn: skip
