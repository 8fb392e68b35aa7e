int on_ints(int a, int b) { return a << b; }

int main(void) { return 0; } // cairn: skip
