int in_a_condition(unsigned a, unsigned b) { return a <= b ? 5 : 6; }

int not_on_doubles(double a, double b) { return a < b; }

int main(void) { return 0; } // cairn: skip
