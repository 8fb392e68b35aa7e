// A small calculator: one expression a line, with + - * /, parentheses and unary minus.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *at;
static int failed;

static long sum(void);

static void skip_spaces(void) {
  while (*at == ' ' || *at == '\t')
    at++;
}

static void complain(const char *what) {
  if (!failed)
    printf("error: %s\n", what);
  failed = 1;
}

static long atom(void) {
  skip_spaces();
  if (*at == '-') {
    at++;
    return -atom();
  }
  if (*at == '(') {
    at++;
    long value = sum();
    skip_spaces();
    if (*at == ')')
      at++;
    else
      complain("a parenthesis is missing");
    return value;
  }
  if (!isdigit((unsigned char)*at)) {
    complain("a number is missing");
    return 0;
  }
  long value = 0;
  while (isdigit((unsigned char)*at))
    value = value * 10 + (*at++ - '0');
  return value;
}

static long product(void) {
  long left = atom();
  for (skip_spaces(); *at == '*' || *at == '/'; skip_spaces()) {
    char operator = *at++;
    long right = atom();
    if (operator== '*')
      left *= right;
    else
      left /= right;
  }
  return left;
}

static long sum(void) {
  long left = product();
  for (skip_spaces(); *at == '+' || *at == '-'; skip_spaces()) {
    char operator = *at++;
    long right = product();
    left = operator== '+' ? left + right : left - right;
  }
  return left;
}

int main(int argc, char **argv) {
  char line[256];
  FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
  if (file == NULL) {
    perror(argv[1]);
    return EXIT_FAILURE;
  }
  int status = EXIT_SUCCESS;
  while (fgets(line, sizeof line, file)) {
    at = line;
    failed = 0;
    long value = sum();
    if (!failed && *at != '\n' && *at != '\0')
      complain("something follows the expression");
    if (failed)
      status = EXIT_FAILURE;
    else
      printf("%ld\n", value);
  }
  return status;
}
