int of_elements(int i) {
  int first[4] = {1, 2, 3, 4}, second[4] = {5, 6, 7, 8};
  char third[4] = "abc";
  second[i + 1] = 9;
  return first[i] + third[i];
}

int main(void) { return 0; } // cairn: skip
