int all_of_them(int n, unsigned char c, double x, const char *p) {
  n++;
  --c;
  x++;
  ++p;
  return n + c + (int)x + *p;
}

int as_a_value(int *n) { return (*n)++ + --*n; }

int main(void) { return 0; } // cairn: skip
