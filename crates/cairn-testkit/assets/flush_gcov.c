// Linked into gcov reference builds: writes the counters also when the program crashes or leaves by `_exit`.
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void __gcov_dump(void);

static void dump_and_die(int signal_number) {
  __gcov_dump();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

__attribute__((constructor)) static void install(void) {
  static char stack[65536];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&alternate, NULL);
  struct sigaction action = {.sa_handler = dump_and_die, .sa_flags = SA_ONSTACK | SA_NODEFER};
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    sigaction(signals[i], &action, NULL);
}

void _exit(int status) {
  __gcov_dump();
  for (;;)
    syscall(SYS_exit_group, status);
}
