int on_ints(int a, int b) { return a | b; }

unsigned with_a_mask(unsigned a) { return a & 0xff; }

int main(void) { return 0; } // cairn: skip
