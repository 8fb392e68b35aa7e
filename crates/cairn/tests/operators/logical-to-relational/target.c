int as_a_value(int a, long b) { return a || b; }

int main(void) { return 0; } // cairn: skip
