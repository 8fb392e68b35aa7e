// What the instrumenter adds to a view, written in C. `HIT(n)` is what it does at counter n, `STEP()` at a back-edge.
#pragma once
#define N_COUNTERS 100
__attribute__((aligned(4096))) unsigned char __cairn_counters[4096];
#define HIT(n) (__cairn_counters[64 + (n)] += 1)
__attribute__((aligned(4096))) unsigned long __cairn_fuel[512];
void cairn_out_of_fuel(void) __attribute__((noreturn));
#define STEP() do { if (--__cairn_fuel[0] == 0) cairn_out_of_fuel(); } while (0)
struct view {
  unsigned long magic;
  unsigned abi_version, kind;
  unsigned char map_hash[32];
  unsigned n_counters, n_probes;
  unsigned char *counters;
  unsigned long *fuel;
  const void *mutants, *tables, *sites;
};
#ifndef MUTANT_VIEW
#define MUTANT_VIEW 0
#define VIEW_KIND 1
#endif
__attribute__((section(".cairn_view"), used)) struct view __cairn_view = {
  VIEW_MAGIC, ABI_VERSION, VIEW_KIND, {7}, N_COUNTERS, 0, __cairn_counters, __cairn_fuel, MUTANT_VIEW};
extern const unsigned ABI_SYMBOL;
__attribute__((used)) static const unsigned *abi = &ABI_SYMBOL;
#ifndef HARNESS
int cairn_run_main(int, char **, char **, int (*)());
int program_main();
int main(int argc, char **argv, char **envp) { return cairn_run_main(argc, argv, envp, program_main); }
#define main program_main
#endif
