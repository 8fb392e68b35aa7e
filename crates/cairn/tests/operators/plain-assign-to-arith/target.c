struct pair {
  int a, b;
  unsigned low : 3;
};

int on_ints(int a, int b) {
  int not_an_initialiser = a;
  a = b;
  return a + not_an_initialiser;
}

void on_members(struct pair *pair, int n) {
  pair->a = n;
  pair->low = n;
}

void not_on_structures(struct pair *to, struct pair *from) { *to = *from; }

const char *not_on_pointers(const char *p, const char *q) {
  p = q;
  return p;
}

int main(void) { return 0; } // cairn: skip
