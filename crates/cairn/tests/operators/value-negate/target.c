int of_variables(int a, unsigned b) { return a * b; }

double of_doubles(double x) { return x; }

int main(void) { return 0; } // cairn: skip
