long total;

void on_a_global(int a) { total += a; }

char on_a_byte(char c, int a) {
  c -= a;
  return c;
}

double on_a_double(double x) {
  x /= 2;
  return x;
}

const char *on_a_pointer(const char *p, int n) {
  p += n;
  return p;
}

_Bool on_a_bool(_Bool seen, int n) {
  seen += n;
  return seen;
}

int main(void) { return 0; } // cairn: skip
