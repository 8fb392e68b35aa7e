int on_signed(int a, int b) { return a < b; }

unsigned in_a_for(unsigned n) {
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++)
    sum += i;
  return sum;
}

int on_doubles(double a, double b) { return a >= b ? 1 : 2; }

int on_pointers(const char *p, const char *end) { return p == end; }

int on_null(const char *p) { return p != 0; }

int main(void) { return 0; } // cairn: skip
