int of_ints(int a) { return a * 2; }

unsigned char of_bytes(int a) { return a; }

double of_doubles(double x) { return x; }

const char *of_pointers(const char *p) { return p; }

_Bool of_truths(int a) { return a > 3; }

int several(int a) {
  if (a)
    return a;
  return 0;
}

int main(void) { return 0; } // cairn: skip
