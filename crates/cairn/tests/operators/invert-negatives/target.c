int on_ints(int a) { return -a; }

double on_doubles(double x) { return 2 * -x; }

int not_on_literals(void) { return -1; }

int main(void) { return 0; } // cairn: skip
