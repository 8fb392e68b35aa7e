int on_ints(int a, int b) { return a % b; }

double not_on_doubles(double a, double b) { return a + b; }

int *not_on_pointers(int *p, int i) { return p - i; }

int main(void) { return 0; } // cairn: skip
