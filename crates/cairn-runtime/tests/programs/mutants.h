// What the instrumenter adds to a mutant view beside counters, written in C, with the three bodies of a function in one.
//
// The program says how many functions, patches and selectors it has, and which selector each function starts with. In a
// function, `BODY(f)` is the body that runs; `PATCH(body, patch, first selector, original, mutants...)` is an expression
// with its mutants.
#pragma once
#define CONTROL_SIZE 4096
__attribute__((aligned(4096))) unsigned char __cairn_mutant_control[CONTROL_SIZE];
__attribute__((aligned(4096))) unsigned char __cairn_infections[4096];
struct mutant_name { unsigned low, high, selector; };
struct mutant_view {
  unsigned char *control, *infections;
  unsigned n_functions, n_patches, n_selectors, n_names;
  const unsigned *first_selectors;
  const struct mutant_name *names;
};
extern const struct mutant_view __cairn_mutant_view;
#define VIEW_KIND 3
#define MUTANT_VIEW &__cairn_mutant_view
#define ACTIVE (((volatile unsigned *)__cairn_mutant_control)[0])
#define OBSERVES (((volatile unsigned *)__cairn_mutant_control)[1])
#define BODY(function) (((volatile unsigned char *)__cairn_mutant_control)[2304 + (function)])
_Bool cairn_site_value(unsigned long original, unsigned long changed);
void cairn_bad_division(void);
static inline int cairn_patch(int body, unsigned patch, unsigned first, int original, const int *changed, unsigned n) {
  if (body == 1 && ACTIVE - first <= n) {
    int value = ACTIVE - first < n ? changed[ACTIVE - first] : original;
    if (OBSERVES) return cairn_site_value((unsigned)original, (unsigned)value) ? value : original;
    return value;
  }
  if (body == 2) {
    __cairn_infections[patch] = 1;
    for (unsigned i = 0; i < n; i++)
      if (changed[i] != original) __cairn_infections[__cairn_mutant_view.n_patches + first + i] = 1;
  }
  return original;
}
#define PATCH(body, patch, first, original, ...) \
  cairn_patch(body, patch, first, original, (int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))
// The mutants have the stable ids 0x100000001, 0x100000002, and so on, by selector; all selectors have one unless a program defines
// other names. After the counts: the first selector
// of each function, and one more than the last.
#define MUTANT_NAMES {1, 1, 1}, {2, 1, 2}, {3, 1, 3}, {4, 1, 4}, {5, 1, 5}, {6, 1, 6}, {7, 1, 7}, {8, 1, 8}
#define MUTANTS(functions, patches, selectors, ...) \
  static const unsigned first_selectors[] = {__VA_ARGS__}; \
  static const struct mutant_name mutant_names[] = {MUTANT_NAMES}; \
  const struct mutant_view __cairn_mutant_view = { \
    __cairn_mutant_control, __cairn_infections, functions, patches, selectors, \
    sizeof mutant_names / sizeof *mutant_names, first_selectors, mutant_names}
