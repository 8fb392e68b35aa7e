int global;

int of_variables(int a, unsigned char c) { return a + c * global; }

struct pair {
  int a, b;
};

int of_members(const struct pair *pair, int i) { return pair[i].b; }

int main(void) { return 0; } // cairn: skip
