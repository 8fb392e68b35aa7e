int on_ints(int a, int b) { return a * b; }

unsigned long of_unlike_widths(unsigned long a, short b) { return a + b; }

float not_on_floats(float a, float b) { return a - b; }

int main(void) { return 0; } // cairn: skip
