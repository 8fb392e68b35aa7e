long on_longs(long a, int b) { return a ^ b; }

unsigned on_unsigned(unsigned a, unsigned b) { return a | b; }

int main(void) { return 0; } // cairn: skip
