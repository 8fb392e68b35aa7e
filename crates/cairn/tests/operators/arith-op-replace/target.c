int on_ints(int a, int b) { return a + b; }

double on_doubles(double a, double b) { return a / b; }

unsigned char on_bytes(unsigned char a, char b) { return a * b; }

int *on_pointers(int *p, int i) { return p + i; }

long between_pointers(int *p, int *q) { return q - p; }

int not_by_zero(int a) { return a - 0; }

int main(void) { return 0; } // cairn: skip
