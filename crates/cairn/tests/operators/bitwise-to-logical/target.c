struct file {
  int flags;
  unsigned mode : 4;
};

int of_members(const struct file *file, int mask) { return file->flags & mask; }

int of_bit_fields(const struct file *file) { return file->mode | 2; }

int main(void) { return 0; } // cairn: skip
