int of_comparisons(int a, int b) { return a > 0 && b > 0; }

int of_pointers(const char *p, int n) { return p && n; }

int main(void) { return 0; } // cairn: skip
