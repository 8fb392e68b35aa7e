unsigned char on_a_byte(unsigned char c, int n) {
  c = n;
  return c;
}

_Bool on_a_bool(_Bool seen, int n) {
  seen = n;
  return seen;
}

int main(void) { return 0; } // cairn: skip
