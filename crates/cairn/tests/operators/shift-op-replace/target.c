int on_signed(int a, int b) { return a << b; }

unsigned on_unsigned(unsigned a, unsigned b) { return a >> b; }

unsigned char on_bytes(unsigned char a) { return a >> 1; }

int main(void) { return 0; } // cairn: skip
