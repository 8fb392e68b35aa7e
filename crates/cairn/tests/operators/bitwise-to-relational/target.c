int in_a_condition(int mode, int bit) {
  while (mode & bit)
    mode >>= 1;
  return mode;
}

int main(void) { return 0; } // cairn: skip
