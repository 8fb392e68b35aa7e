int width, height;
static long area;
static const int limit = 4;

int of_the_same_type(int a) {
  width = a;
  area = a;
  return a + height + limit;
}

int main(void) { return 0; } // cairn: skip
