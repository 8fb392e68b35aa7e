int of_ints(long n) { return (int)n; }

double to_double(int a, int b) { return (double)a / b; }

unsigned char to_a_byte(int n) { return (unsigned char)(n + 1); }

int main(void) { return 0; } // cairn: skip
