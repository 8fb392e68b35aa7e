int of_variables(int a, unsigned b) { return a * b; }

int main(void) { return 0; } // cairn: skip
