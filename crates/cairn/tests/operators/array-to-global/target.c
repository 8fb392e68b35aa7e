static int first[4] = {1, 2, 3, 4}, second[8];
static char third[4];

int of_elements(int i) {
  second[i] = first[i + 1];
  return third[i];
}

int main(void) { return 0; } // cairn: skip
