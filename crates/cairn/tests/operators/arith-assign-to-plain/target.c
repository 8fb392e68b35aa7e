struct counter {
  int n;
  unsigned low : 3;
};

void on_members(struct counter *counter, int a) {
  counter->n += a;
  counter->low += a;
}

const char *not_on_pointers(const char *p, int n) {
  p += n;
  return p;
}

int main(void) { return 0; } // cairn: skip
