//! A run that crashes, or waits for ever, is told from others without a new process, and leaves nothing to the next.

mod support;

use cairn_executor::{Ran, Session, Wants};
use cairn_model::{Ending, Input};
use support::{
    args, stdout,
    view::{session, session_config, target, view},
};

/// Dies in as many ways as it has arguments for, after it has changed what it can.
const DEATHS: &str = r#"#include <fcntl.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <unistd.h>
    static int n_runs;
    static volatile int zero;
    static void tell(int signal) { _exit(signal); }
    static int deeper(volatile char *above) {
      volatile char here[4096];
      here[0] = above[0];
      return above[0] == 2 ? 0 : deeper(here) + here[1];
    }
    int main(int argc, char **argv) {
      struct sigaction old;
      n_runs++;
      sigaction(SIGSEGV, NULL, &old);
      printf("%d runs, handler %d, flags %d\n", n_runs, old.sa_handler != SIG_DFL, old.sa_flags);
      fflush(stdout);
      char *way = argc > 1 ? argv[1] : "";
      char *memory = malloc(1 << 20);
      memset(memory, 1, 1 << 20);
      mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (!strcmp(way, "read")) return *(volatile int *)8;
      if (!strcmp(way, "write")) *(volatile int *)&main = 1;
      if (!strcmp(way, "divide")) return argc / zero;
      if (!strcmp(way, "trap")) __builtin_trap();
      if (!strcmp(way, "abort")) abort();
      if (!strcmp(way, "raise")) raise(SIGBUS);
      if (!strcmp(way, "terminate")) raise(SIGTERM);
      if (!strcmp(way, "overflow")) return deeper(memory);
      if (!strcmp(way, "masked")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        return *(volatile int *)8;
      }
      if (!strcmp(way, "handled") || !strcmp(way, "reset")) {
        signal(SIGSEGV, tell);
        if (!strcmp(way, "reset"))
          printf("%d\n", signal(SIGSEGV, SIG_DFL) == tell);
        fflush(stdout);
        return *(volatile int *)8;
      }
      if (!strcmp(way, "several")) {
        sigset_t all;
        sigfillset(&all);
        sigdelset(&all, SIGSYS);
        signal(SIGUSR1, tell);
        sigprocmask(SIG_SETMASK, &all, NULL);
        raise(SIGABRT);
        raise(SIGUSR1);
        raise(SIGTERM);
        sigemptyset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
      }
      if (!strcmp(way, "beyond"))
        for (char *at = memory;; at += 4096)
          *at = 1;
      if (!strcmp(way, "nowhere")) return open((char *)8, O_RDONLY) + 9;
      if (!strcmp(way, "ignored")) {
        signal(SIGABRT, SIG_IGN);
        abort();
      }
      return 0;
    }"#;

const WAYS: [&str; 16] = [
    "",
    "read",
    "write",
    "divide",
    "trap",
    "abort",
    "raise",
    "terminate",
    "overflow",
    "masked",
    "handled",
    "reset",
    "several",
    "beyond",
    "nowhere",
    "ignored",
];

#[test]
fn crashes_are_those_of_a_fresh_process_and_leave_nothing() {
    let program = view(DEATHS);
    let mut session = session(&program);
    let inputs: Vec<Input> = WAYS.iter().map(|way| args(&[way])).collect();
    let fresh: Vec<_> = inputs.iter().map(|input| session.run_fresh(input).unwrap()).collect();
    assert_eq!(fresh[1].outcome.ending, Ending::Signalled { signal: libc::SIGSEGV });
    for round in 0..3 {
        let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
        for ((way, fresh), run) in WAYS.iter().zip(&fresh).zip(&runs) {
            assert_eq!(run.ran, Ran::Live, "{way}");
            assert_eq!(run.execution.outcome.ending, fresh.outcome.ending, "{way} in round {round}");
            assert_eq!(stdout(&run.execution), stdout(fresh), "{way} in round {round}");
            assert_eq!(run.execution.counters, fresh.counters, "{way} in round {round}");
        }
    }
}

#[test]
fn a_crash_does_not_end_the_runner() {
    let program = view(DEATHS);
    let mut session = session(&program);
    let quick = ["read", "several", "divide", "trap", "abort", "raise"];
    let inputs: Vec<Input> = quick.iter().map(|way| args(&[way])).cycle().take(60).collect();
    session.run_batch(&inputs[..6], Wants::EVERYTHING).unwrap();
    let before = session.counts().n_runners;
    let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
    assert!(runs.iter().all(|run| matches!(run.execution.outcome.ending, Ending::Signalled { .. })));
    assert_eq!(session.counts().n_runners, before, "{:?}", session.counts());
    assert_eq!(session.counts().n_crashes, 66);
}

#[test]
fn a_run_that_waits_for_a_thread_that_is_not_there_ends_at_once() {
    let program = view(
        r#"#include <pthread.h>
        #include <stdio.h>
        #include <string.h>
        int main(int argc, char **argv) {
          pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
          pthread_cond_t never = PTHREAD_COND_INITIALIZER;
          pthread_mutex_lock(&lock);
          puts("locked");
          fflush(stdout);
          if (!strcmp(argv[1], "twice")) pthread_mutex_lock(&lock);
          if (!strcmp(argv[1], "never")) pthread_cond_wait(&never, &lock);
          if (!strcmp(argv[1], "briefly")) {
            struct timespec past = {0, 0};
            printf("%d\n", pthread_cond_timedwait(&never, &lock, &past) != 0);
          }
          pthread_mutex_unlock(&lock);
          return 0;
        }"#,
    );
    let mut session = session(&program);
    let inputs = ["twice", "briefly", "never", "not"].map(|how| args(&[how]));
    for _ in 0..20 {
        let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
        let [twice, briefly, never, not] = runs.as_slice() else { panic!("four runs") };
        for run in [twice, never] {
            assert_eq!((&run.execution.outcome.ending, &run.ran), (&Ending::TimedOut, &Ran::Live));
            assert_eq!(stdout(&run.execution), "locked\n");
        }
        for (run, expected) in [(briefly, "locked\n1\n"), (not, "locked\n")] {
            assert_eq!((&run.execution.outcome.ending, &run.ran), (&Ending::Exited { code: 0 }, &Ran::Live));
            assert_eq!(stdout(&run.execution), expected);
        }
    }
    assert_eq!(session.counts().n_runners, 1, "{:?}", session.counts());
    let fresh = session.run_fresh(&inputs[0]).unwrap();
    assert_eq!(fresh.outcome.ending, Ending::TimedOut);
}

#[test]
fn a_run_that_dies_of_the_limit_on_memory_is_told_so() {
    let program = view(
        r#"#include <stdlib.h>
        #include <string.h>
        int main(int argc, char **argv) {
          size_t size = (size_t)atoi(argv[1]) << 20;
          char *memory = malloc(size);
          memset(memory, 1, size);
          free(memory);
          return *(volatile int *)8;
        }"#,
    );
    let mut config = session_config();
    config.run.memory_limit = 256 << 20;
    let mut session = Session::new(target(&program), config).unwrap();
    for size in ["250", "1"] {
        let fresh = session.run_fresh(&args(&[size])).unwrap();
        let run = session.run(&args(&[size])).unwrap();
        assert_eq!(run.execution.outcome.ending, fresh.outcome.ending, "{size} MB");
    }
}
