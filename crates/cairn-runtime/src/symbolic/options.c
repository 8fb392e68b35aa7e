// Functions that take the command line apart: which words are options decides what a program does, and is not its own decision.
#include "symbolic.h"
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// A word was looked at: whether it is an option stays as it is.
void cairn_symbolic_word(const char *word);
// Bytes stay as they are.
void cairn_symbolic_keep(const char *bytes, size_t n);
// There stay as many words as there are, which a label tells.
void cairn_symbolic_keep_count(uint32_t label, int count);
// A byte is not zero.
void cairn_symbolic_keep_some(const char *byte);

static bool is_option(const char *word) { return word[0] == '-' && word[1] != 0; }

// Tells of the words that are looked at for the next option; returns the option, or null. The label is that of their number, which
// stays: with another one, others would be looked at.
static const char *look(uint32_t label, int argc, char *const argv[], const char *letters) {
  cairn_symbolic_keep_count(label, argc);
  bool in_order = *letters == '+' || *letters == '-' || getenv("POSIXLY_CORRECT");
  for (int i = optind > 0 ? optind : 1; i < argc && argv[i]; i++) {
    cairn_symbolic_word(argv[i]);
    if (is_option(argv[i])) return argv[i];
    if (in_order) break;
  }
  return NULL;
}

// An option was taken: its letters stay, and what follows it in the same word stays something.
static void took(const char *word, char *const argv[]) {
  if (!word) return;
  size_t length = strlen(word);
  if (optarg > word && optarg <= word + length) {
    cairn_symbolic_keep(word + 1, (size_t)(optarg - word) - 1);
    if (word[1] != '-') cairn_symbolic_keep_some(optarg);
    return;
  }
  // Letters that follow in the same word come with the next calls.
  bool has_more = optind > 0 && argv[optind] == word;
  if (!has_more) cairn_symbolic_keep(word + 1, length);
}

int cairn_getopt(int argc, char *const argv[], const char *letters) {
  uint32_t label = cairn_symbolic_argument((uintptr_t)cairn_getopt, 0);
  const char *word = look(label, argc, argv, letters);
  int result = getopt(argc, argv, letters);
  took(word, argv);
  return result;
}

#define LONG(name, real)                                                                                              \
  int name(int argc, char *const argv[], const char *letters, const struct option *options, int *index) {             \
    uint32_t label = cairn_symbolic_argument((uintptr_t)name, 0);                                                     \
    const char *word = look(label, argc, argv, letters);                                                              \
    int result = real(argc, argv, letters, options, index);                                                           \
    took(word, argv);                                                                                                 \
    return result;                                                                                                    \
  }
LONG(cairn_getopt_long, getopt_long)
LONG(cairn_getopt_long_only, getopt_long_only)
