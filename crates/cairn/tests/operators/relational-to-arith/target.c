int in_a_condition(int length, int limit) {
  if (length > limit)
    return limit;
  return length;
}

int as_a_value(int a, int b) { return a == b; }

int not_on_pointers(const char *p, const char *end) { return p < end; }

int main(void) { return 0; } // cairn: skip
