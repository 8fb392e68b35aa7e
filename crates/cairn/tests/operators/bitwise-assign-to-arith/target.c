unsigned char on_a_byte(unsigned char c) {
  c &= 0x0f;
  return c;
}

int main(void) { return 0; } // cairn: skip
