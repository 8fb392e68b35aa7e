//! Mutants that do whatever a program gone wrong can do. Each is contained, told apart, and the next one runs as if it
//! had not been there.

mod support;

use cairn_executor::{
    CompareCommand, Compared, Ran, RunConfig, SandboxLevel, SessionConfig, WhyFresh,
    mutants::MutantSession,
    oracle::{Masks, Oracle, Reference, Unusable, needs_confirmation},
};
use cairn_model::{Ending, Input, KillReason, MutantId, MutantTable, Verdict};
use std::{path::PathBuf, sync::Arc, time::Duration};
use support::{
    Program, args,
    mutants::{all, mutant_session, mutant_session_with, table},
    stdout,
    view::{session_config, view},
};

/// One mutant for each way to go wrong; what they do is in the order of [`Wild`].
const WILD: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/socket.h>
    #include <sys/wait.h>
    #include <unistd.h>
    MUTANTS(1, 1, 21, 1, 21);
    static void *volatile kept;
    static void *nothing(void *unused) { return unused; }
    static void write_file(void) {
        int file = open("left", O_WRONLY | O_CREAT, 0600);
        if (write(file, "behind", 6) != 6) abort();
    }
    static void remove_input(void) { unlink("input"); }
    static void fork_and_wait(void) {
        if (fork() == 0) _exit(0);
        wait(0);
    }
    static void fork_for_ever(void) { for (;;) { STEP(); fork(); } }
    static void deadlock(void) {
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&mutex);
    }
    static void ruin_heap(void) {
        memset((char *)kept - 64, 0x5a, 4096);
        free(kept);
        kept = malloc(100000);
        free(malloc(50));
    }
    // Writes over everything that can be written, of whoever it is, but the stack it stands on.
    static void write_everywhere(void) {
        char line[512], access[8];
        unsigned long start, end;
        FILE *maps = fopen("/proc/self/maps", "r");
        static struct { unsigned long start, end; } ranges[512];
        int n = 0;
        while (fgets(line, sizeof line, maps))
            if (sscanf(line, "%lx-%lx %7s", &start, &end, access) == 3 && access[1] == 'w' && !strstr(line, "[stack]")
                && !((unsigned long)ranges >= start && (unsigned long)ranges < end))
                ranges[n].start = start, ranges[n++].end = end;
        for (int i = 0; i < n; i++)
            for (unsigned long at = ranges[i].start; at < ranges[i].end; at += 8) *(volatile unsigned long *)at = ~0ul;
    }
    static void exhaust_memory(void) {
        for (;;) {
            STEP();
            kept = malloc(1 << 20);
            for (int i = 0; i < 1 << 20; i += 4096) ((volatile char *)kept)[i] = 1;
        }
    }
    static void write_control(void) { BODY(0) = 0; }
    static void open_control(void) {
        mprotect(__cairn_mutant_control, CONTROL_SIZE, PROT_READ | PROT_WRITE);
        memset(__cairn_mutant_control, 0, CONTROL_SIZE);
    }
    static void print_for_ever(void) { for (;;) puts("and on and on and on and on and on and on and on"); }
    static void sleep_for_ever(void) { for (;;) pause(); }
    static void start_thread(void) {
        pthread_t thread;
        pthread_create(&thread, 0, nothing, 0);
        pthread_join(thread, 0);
    }
    static void kill_itself(void) { kill(getpid(), SIGKILL); }
    static void stop_itself(void) { raise(SIGSTOP); }
    static void handle_crash(void) {
        signal(SIGSEGV, _exit);
        *(volatile int *)8 = 1;
    }
    static void recurse(int depth) {
        volatile char frame[4096];
        frame[0] = depth;
        STEP();
        recurse(depth + frame[0] + 1);
        frame[1] = depth;
    }
    static void open_socket(void) { if (socket(AF_INET, SOCK_STREAM, 0) < 0) return; }
    static void note_infections(void) { memset(__cairn_infections, 1, sizeof __cairn_infections); }
    static void divide(void) { cairn_bad_division(); }
    int main(int argc, char **argv) {
        kept = malloc(100);
        HIT(1);
        switch (PATCH(BODY(0), 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)) {
        case 1: write_file(); break;
        case 2: remove_input(); break;
        case 3: fork_and_wait(); break;
        case 4: fork_for_ever(); break;
        case 5: deadlock(); break;
        case 6: ruin_heap(); break;
        case 7: write_everywhere(); break;
        case 8: exhaust_memory(); break;
        case 9: write_control(); break;
        case 10: open_control(); break;
        case 11: print_for_ever(); break;
        case 12: sleep_for_ever(); break;
        case 13: start_thread(); break;
        case 14: kill_itself(); break;
        case 15: stop_itself(); break;
        case 16: handle_crash(); break;
        case 17: recurse(1); break;
        case 18: open_socket(); break;
        case 19: argc > 1 ? divide() : note_infections(); break;
        }
        printf("done\n");
        return 0;
    }"#;

fn wild() -> (Program, Arc<MutantTable>) {
    (view(WILD), table(&[(0, 19)]))
}

fn input() -> Input {
    use cairn_model::input::{Bytes, FileKind, FileRegion};
    let file = FileRegion {
        path: "input".into(),
        kind: FileKind::Regular(Bytes(b"content".to_vec())),
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    };
    Input { files: vec![file], ..Input::default() }
}

fn config() -> SessionConfig {
    let mut config = session_config();
    config.run.max_processes = 16;
    config.run.memory_limit = 128 << 20;
    config
}

/// Checks that the session still gives the original's outcome.
fn check_original(session: &mut MutantSession, after: &str) {
    let run = session.original(&input()).unwrap();
    let outcome = &run.execution.outcome;
    assert_eq!(
        (stdout(&run.execution).as_str(), &outcome.ending),
        ("done\n", &Ending::Exited { code: 0 }),
        "{after}"
    );
    assert!(outcome.files.is_empty(), "{after}: {:?}", outcome.files);
    assert_eq!(run.execution.counters[1], 1, "{after}");
}

#[test]
fn wild_mutants_are_told_apart_and_harm_nobody() {
    let (program, table) = wild();
    let mut session = mutant_session_with(&program, &table, config());
    session.set_fuel(1_000_000);
    let original = session.original(&input()).unwrap().execution.outcome;
    let (oracle, masks) = (Oracle::default(), Masks::default());
    let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
    let killed = Verdict::Killed;
    let crash = |signal| killed(KillReason::Crash(signal));
    let expected = [
        ("writes a file", killed(KillReason::Files)),
        ("removes an input", killed(KillReason::Files)),
        ("forks and waits", Verdict::Survived),
        ("forks for ever", killed(KillReason::Timeout)),
        ("deadlocks", killed(KillReason::Timeout)),
        ("ruins the heap", crash(libc::SIGABRT)),
        ("writes everywhere", crash(libc::SIGSEGV)),
        ("exhausts memory", killed(KillReason::Memory)),
        ("writes over the control pages", crash(libc::SIGSEGV)),
        ("opens the control pages", Verdict::Survived),
        ("prints for ever", killed(KillReason::TooMuchOutput)),
        ("sleeps for ever", killed(KillReason::Timeout)),
        ("starts a thread", Verdict::Survived),
        ("kills itself", crash(libc::SIGKILL)),
        ("stops itself", killed(KillReason::Timeout)),
        ("handles its crash", killed(KillReason::Exit)),
        ("recurses for ever", crash(libc::SIGSEGV)),
        ("opens a socket", Verdict::Survived),
        ("writes over the infections", Verdict::Survived),
    ];
    for (mutant, (name, verdict)) in all(&table).into_iter().zip(expected) {
        let run = session.run(&input(), &[mutant]).unwrap().remove(0).run;
        let outcome = &run.execution.outcome;
        let ending = &outcome.ending;
        // Whichever limit is met first by a program without end is a matter of the machine's speed.
        let seen = match (reference.verdict(outcome), name) {
            (Verdict::Killed(KillReason::Fuel | KillReason::Timeout), "forks for ever") => {
                killed(KillReason::Timeout)
            }
            (verdict, _) => verdict,
        };
        assert_eq!(seen, verdict, "{name}: {ending:?} {:?}", run.ran);
        check_original(&mut session, name);
    }
}

#[test]
fn a_batch_of_wild_mutants_gives_each_its_own_outcome() {
    let (program, table) = wild();
    let mut session = mutant_session_with(&program, &table, config());
    session.set_fuel(1_000_000);
    // Those that end soon, twice over, mixed.
    let mutants: Vec<_> = [0, 5, 18, 8, 1, 15, 16, 2, 6, 9, 0, 17, 5].map(MutantId).to_vec();
    let runs = session.run(&input(), &mutants).unwrap();
    for (mutant, batched) in mutants.iter().zip(&runs) {
        let alone = session.run_fresh(&input(), Some(*mutant)).unwrap();
        let batched = &batched.run.execution.outcome;
        assert_eq!(
            (&batched.ending, &batched.files),
            (&alone.outcome.ending, &alone.outcome.files),
            "{mutant:?}"
        );
    }
    check_original(&mut session, "a wild batch");
}

#[test]
fn what_infections_a_mutant_writes_are_gone_with_the_next_examination() {
    let (program, table) = wild();
    let mut session = mutant_session(&program, &table);
    let before = session.examine(&Input::default()).unwrap();
    session.run(&Input::default(), &[MutantId(18)]).unwrap();
    let after = session.examine(&Input::default()).unwrap();
    assert_eq!((before.reached, before.infected), (after.reached, after.infected));
}

#[test]
fn a_division_by_zero_is_the_machines() {
    let (program, table) = wild();
    let mut session = mutant_session(&program, &table);
    let run = session.run(&args(&["x"]), &[MutantId(18)]).unwrap().remove(0).run;
    assert_eq!(
        (run.ran, run.execution.outcome.ending),
        (Ran::Live, Ending::Signalled { signal: libc::SIGFPE })
    );
}

#[test]
fn mutants_that_leave_files_leave_the_same_in_a_fresh_process() {
    let (program, table) = wild();
    let mut session = mutant_session(&program, &table);
    let original = session.original(&input()).unwrap().execution.outcome;
    let (oracle, masks) = (Oracle::default(), Masks::default());
    let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
    let run = session.run(&input(), &[MutantId(0)]).unwrap().remove(0).run;
    let reason = reference.judge(&run.execution.outcome).unwrap();
    assert!(run.ran == Ran::Live && needs_confirmation(reason));
    let fresh = session.run_fresh(&input(), Some(MutantId(0))).unwrap();
    assert_eq!(reference.judge(&fresh.outcome), Some(reason));
}

/// Prints a number nobody can foresee, or with an argument something else.
const UNSTABLE: &str = r#"
    #include <stdio.h>
    #include <sys/random.h>
    MUTANTS(1, 1, 4, 1, 4);
    int main(int argc, char **argv) {
        unsigned long number = 0;
        if (getrandom(&number, sizeof number, 0) != sizeof number) return 9;
        printf("%lx\n", number);
        if (argc > 1 && number % 2) return 1;
        return PATCH(BODY(0), 0, 1, 0, 0, 4);
    }"#;

#[test]
fn what_the_original_does_not_repeat_is_masked_and_told() {
    let program = view(UNSTABLE);
    let table = table(&[(0, 2)]);
    let target = support::view::target(&program);
    let mut executor = cairn_executor::Executor::new(target, config().run).unwrap();
    let stability = executor.run_twice(&Input::default()).unwrap();
    let masks = Masks::of(&stability);
    assert_eq!(masks.parts().collect::<Vec<_>>(), ["stdout"]);
    let oracle = Oracle::default();
    assert_eq!(oracle.check(&stability.first.outcome, &masks), Ok(()));
    let mut session = mutant_session(&program, &table);
    let runs = session.run(&Input::default(), &all(&table)).unwrap();
    let reference = Reference { oracle: &oracle, original: &stability.first.outcome, masks: &masks };
    let verdicts: Vec<_> = runs.iter().map(|run| reference.verdict(&run.run.execution.outcome)).collect();
    assert_eq!(verdicts, [Verdict::Survived, Verdict::Killed(KillReason::Exit)]);
    let unusable = (0..100)
        .map(|_| executor.run_twice(&args(&["x"])).unwrap())
        .map(|stability| oracle.check(&stability.first.outcome, &Masks::of(&stability)))
        .find(Result::is_err);
    assert_eq!(unusable, Some(Err(Unusable::Unstable)));
}

fn compare_program(text: &str) -> Program {
    support::program(text)
}

fn compare_command(program: &Program) -> CompareCommand {
    let arguments = vec!["--a={original}".into(), "{mutant}".into()];
    let limits = RunConfig { wall_limit: Duration::from_millis(500), ..support::config(SandboxLevel::Full) };
    CompareCommand::new(program.path.clone(), arguments, limits).unwrap()
}

#[test]
fn a_command_compares_in_the_sandbox() {
    let program = compare_program(
        r#"#include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static char one[64], other[64];
        int main(int argc, char **argv) {
            if (argc != 3 || strncmp(argv[1], "--a=", 4)) return 3;
            FILE *a = fopen(argv[1] + 4, "r"), *b = fopen(argv[2], "r");
            if (!a || !b) return 4;
            if (!fgets(one, sizeof one, a) || !fgets(other, sizeof other, b)) return 5;
            if (!strcmp(other, "crash")) raise(SIGSEGV);
            if (!strcmp(other, "hang")) for (;;) pause();
            if (!strcmp(other, "odd")) { fprintf(stderr, "cannot compare\n"); return 77; }
            return atoi(one) != atoi(other);
        }"#,
    );
    let mut command = compare_command(&program);
    assert_eq!(command.compare(b"7", b"07").unwrap(), Compared::Same);
    assert_eq!(command.compare(b"7", b"8").unwrap(), Compared::Different);
    let mut failure = |text: &[u8]| match command.compare(b"7", text).unwrap() {
        Compared::Failed(failure) => failure.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(failure(b"crash"), "the comparison died of signal 11");
    assert_eq!(failure(b"hang"), "the comparison took too long");
    assert_eq!(failure(b"odd"), "the comparison ended with status 77: cannot compare");
    assert_eq!(failure(b""), "the comparison ended with status 5");
}

#[test]
fn a_command_is_told_both_places() {
    let limits = RunConfig::default();
    let error = CompareCommand::new(PathBuf::from("cmp"), vec!["{original}".into()], limits).unwrap_err();
    assert_eq!(error.to_string(), "the compare command has no argument `{mutant}`");
}

#[test]
fn a_mutant_killed_by_somebody_else_is_run_again() {
    let (program, table) = wild();
    let mut session = mutant_session_with(&program, &table, config());
    let run = session.run(&input(), &[MutantId(13)]).unwrap().remove(0).run;
    assert_eq!(run.ran, Ran::Fresh { why: WhyFresh::Killed });
}
