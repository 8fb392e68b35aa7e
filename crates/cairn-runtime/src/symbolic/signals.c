// Handlers of the program are called through one of ours, which keeps what was under way: see `handlers.rs`.
#include "symbolic.h"
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

// Room for what the runtime keeps.
struct interrupted {
  _Alignas(64) char room[1536];
};
void cairn_symbolic_enter_handler(struct interrupted *kept, uint32_t came_by_itself);
void cairn_symbolic_leave_handler(const struct interrupted *kept);

typedef void (*handler)(int, siginfo_t *, void *);

// What the program has asked for.
static struct {
  handler handler;
  int flags;
} asked[NSIG];

// Whether the program did nothing to bring a signal about, so that it would come elsewhere in another run.
static bool came_by_itself(int number, const siginfo_t *info) {
  bool is_fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
  if (is_fault && info->si_code > 0) return false;
  bool is_sent = info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE;
  // In a session `getpid` answers with another number than the kernel's.
  return !(is_sent && info->si_pid == cairn_symbolic_process_id());
}

static void handle(int number, siginfo_t *info, void *context) {
  struct interrupted kept;
  cairn_symbolic_enter_handler(&kept, came_by_itself(number, info));
  handler handler = asked[number].handler;
  if (asked[number].flags & SA_SIGINFO) {
    handler(number, info, context);
  } else {
    ((void (*)(int))(void *)handler)(number);
  }
  cairn_symbolic_leave_handler(&kept);
}

int cairn_sigaction(int number, const struct sigaction *new, struct sigaction *old) {
  struct sigaction ours, before;
  bool is_known = number > 0 && number < NSIG;
  handler previous = is_known ? asked[number].handler : NULL;
  int previous_flags = is_known ? asked[number].flags : 0;
  if (new) {
    ours = *new;
    if (is_known && new->sa_handler != SIG_DFL && new->sa_handler != SIG_IGN) {
      // Set before the kernel knows: a signal may come at once.
      asked[number].handler = (handler)(void *)new->sa_sigaction;
      asked[number].flags = new->sa_flags;
      ours.sa_sigaction = handle;
      ours.sa_flags |= SA_SIGINFO;
    }
  }
  int result = sigaction(number, new ? &ours : NULL, &before);
  if (result != 0) {
    if (is_known && new) {
      asked[number].handler = previous;
      asked[number].flags = previous_flags;
    }
    return result;
  }
  if (old) {
    *old = before;
    if (before.sa_sigaction == handle) {
      old->sa_sigaction = previous;
      old->sa_flags = previous_flags;
    }
    cairn_symbolic_set(old, 0, sizeof *old);
  }
  return 0;
}

static sighandler_t set(int number, sighandler_t handler, int flags) {
  struct sigaction new = {.sa_handler = handler, .sa_flags = flags}, old;
  sigemptyset(&new.sa_mask);
  if (!(flags & SA_NODEFER)) sigaddset(&new.sa_mask, number);
  return cairn_sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

sighandler_t cairn_signal(int number, sighandler_t handler) { return set(number, handler, SA_RESTART); }
sighandler_t cairn_sysv_signal(int number, sighandler_t handler) { return set(number, handler, SA_RESETHAND | SA_NODEFER); }
