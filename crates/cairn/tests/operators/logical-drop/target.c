int next(void);

int one_side(int a, int b) { return a && b; }

int with_effects(int a) {
  while (a || next())
    a--;
  return a;
}

int next(void) { return 0; }

int main(void) { return 0; } // cairn: skip
