long of_unlike_widths(long a, int b) { return a << b; }

int main(void) { return 0; } // cairn: skip
