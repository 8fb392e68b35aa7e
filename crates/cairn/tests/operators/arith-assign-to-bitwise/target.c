short on_a_short(short s, int a) {
  s *= a;
  return s;
}

float not_on_a_float(float x) {
  x += 2;
  return x;
}

int main(void) { return 0; } // cairn: skip
