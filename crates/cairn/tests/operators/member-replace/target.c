struct shape {
  int width, height;
  long area;
  int depth;
};

int read(const struct shape *shape) { return shape->width * 2; }

void written(struct shape *shape, int n) { shape->depth = n; }

long alone_of_its_type(struct shape shape) { return shape.area; }

int main(void) { return 0; } // cairn: skip
