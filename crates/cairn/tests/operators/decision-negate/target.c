int all_kinds(int a, int b) {
  if (a)
    b++;
  while (b > 10)
    b /= 2;
  for (; a < b; a++)
    ;
  do
    a--;
  while (a && b);
  return a ? 3 : 4;
}

int main(void) { return 0; } // cairn: skip
