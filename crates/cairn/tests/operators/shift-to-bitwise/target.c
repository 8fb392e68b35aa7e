unsigned on_unsigned(unsigned a, unsigned char b) { return a >> b; }

int main(void) { return 0; } // cairn: skip
