//! Many inputs in one live process: the same verdicts as fresh processes give, whatever happens.

mod support;

use cairn_abi::session::RunnerMode;
use cairn_executor::{Calibration, Execution, Ran, Session, SessionMode, SessionRun, Wants, WhyFresh};
use cairn_model::{
    Ending, Input,
    input::{Bytes, FileKind, FileRegion},
    outcome::{Comparison, FileChange},
};
use support::{
    args, stdout,
    view::{session, session_config, target, view},
};

/// Does what its first argument says.
const MANY_ENDINGS: &str = r#"
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/socket.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static int n_runs;
    static void cry(void) { printf("bye\n"); }
    static void *volatile kept;
    int main(int argc, char **argv) {
        HIT(0);
        n_runs++;
        printf("run %d\n", n_runs);
        const char *what = argc > 1 ? argv[1] : "";
        if (!strcmp(what, "exit")) { HIT(1); atexit(cry); exit(atoi(argv[2])); }
        if (!strcmp(what, "_exit")) { HIT(2); fflush(stdout); _exit(3); }
        if (!strcmp(what, "abort")) { HIT(3); fflush(stdout); abort(); }
        if (!strcmp(what, "null")) { HIT(4); puts("null"); fflush(stdout); *(volatile int *)0 = 1; }
        if (!strcmp(what, "trap")) { HIT(11); __builtin_trap(); }
        if (!strcmp(what, "hang")) { HIT(5); for (volatile int i = 0;; i++); }
        if (!strcmp(what, "burn")) { HIT(6); for (;;) STEP(); }
        if (!strcmp(what, "steps")) { for (int i = 0; i < atoi(argv[2]); i++) STEP(); }
        if (!strcmp(what, "socket")) { HIT(7); printf("socket %d\n", socket(AF_INET, SOCK_STREAM, 0)); }
        if (!strcmp(what, "raise")) { HIT(8); fflush(stdout); raise(atoi(argv[2])); }
        if (!strcmp(what, "fill")) { HIT(9); for (;;) memset(malloc(1 << 20), 1, 1 << 20); }
        if (!strcmp(what, "flood")) { for (;;) puts("more and more and more and more"); }
        if (!strcmp(what, "fork")) { HIT(10); fflush(stdout); if (!fork()) _exit(0); wait(NULL); puts("waited"); }
        if (!strcmp(what, "cat")) {
            char line[100];
            while (fgets(line, sizeof line, stdin)) printf("got %s", line);
        }
        if (!strcmp(what, "env")) printf("%s\n", getenv(argv[2]) ? getenv(argv[2]) : "(none)");
        if (!strcmp(what, "read")) {
            char line[100] = "";
            FILE *file = fopen(argv[2], "r");
            printf("%s: %s\n", argv[2], file && fgets(line, sizeof line, file) ? line : "(none)");
        }
        if (!strcmp(what, "write")) {
            FILE *file = fopen(argv[2], "w");
            fprintf(file, "%s", argv[3]);
            fclose(file);
        }
        if (!strcmp(what, "self")) {
            char line[100] = "";
            FILE *file = fopen("/proc/self/stat", "r");
            printf("%d\n", file && fgets(line, 20, file) ? atoi(line) : 0);
        }
        if (!strcmp(what, "leak")) { kept = malloc(100000); memset(kept, 1, 100000); fopen("/dev/null", "r"); }
        return 0;
    }"#;

fn ending(run: &SessionRun) -> &Ending {
    &run.execution.outcome.ending
}

/// Everything of an execution that two runs must share.
fn assert_same(live: &Execution, fresh: &Execution, what: &str) {
    let is_cut = fresh.outcome.stdout.is_truncated();
    match live.outcome.compare(&fresh.outcome) {
        Comparison::Same => {}
        Comparison::Unknown(_) if is_cut => assert_eq!(live.outcome.ending, fresh.outcome.ending, "{what}"),
        other => panic!("{what}: {other:?}: {:?} {:?}", live.outcome.ending, fresh.outcome.ending),
    }
    assert_eq!(live.outcome.harness_return, fresh.outcome.harness_return, "{what}");
    assert_eq!(live.counters, fresh.counters, "{what}");
    assert_eq!((live.stage, live.ended_by), (fresh.stage, fresh.ended_by), "{what}");
}

fn file(path: &str, content: &str) -> FileRegion {
    FileRegion {
        path: path.into(),
        kind: FileKind::Regular(content.into()),
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    }
}

fn assert_live(session: &Session) {
    assert_eq!(*session.mode(), SessionMode::Live(RunnerMode::Snapshot));
}

#[test]
fn a_program_runs_again_and_again_as_if_for_the_first_time() {
    let program = view(MANY_ENDINGS);
    let mut session = session(&program);
    assert_live(&session);
    for _ in 0..3 {
        let run = session.run(&args(&["exit", "7"])).unwrap();
        assert_eq!(*ending(&run), Ending::Exited { code: 7 });
        assert_eq!((run.ran, stdout(&run.execution).as_str()), (Ran::Live, "run 1\nbye\n"));
    }
    assert_eq!((session.counts().n_live, session.counts().n_runners), (3, 1));
}

#[test]
fn every_kind_of_verdict_inside_a_batch_is_a_fresh_process_s() {
    let program = view(MANY_ENDINGS);
    let mut session = session(&program);
    session.set_fuel(100_000);
    let inputs: Vec<Input> = [
        &["exit", "0"][..],
        &["abort"],
        &["_exit"],
        &["null"],
        &["trap"],
        &["burn"],
        &["hang"],
        &["socket"],
        &["raise", "15"],
        &["raise", "9"],
        &["raise", "19"],
        &["raise", "31"],
        &["fill"],
        &["flood"],
        &["fork"],
        &["write", "out", "text"],
        &["steps", "500"],
        &["leak"],
        &["self"],
        &["exit", "255"],
    ]
    .map(args)
    .into();
    let fresh: Vec<Execution> = inputs.iter().map(|input| session.run_fresh(input).unwrap()).collect();
    for inputs_reversed in [false, true] {
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        if inputs_reversed {
            order.reverse();
        }
        let posted: Vec<Input> = order.iter().map(|index| inputs[*index].clone()).collect();
        let runs = session.run_batch(&posted, Wants::EVERYTHING).unwrap();
        assert_eq!(runs.len(), inputs.len());
        for (run, index) in runs.iter().zip(&order) {
            assert_same(&run.execution, &fresh[*index], &format!("{:?} {:?}", inputs[*index].args, run.ran));
        }
    }
    assert_live(&session);
    let ran = |what: &str, session: &mut Session| session.run(&args(&[what])).unwrap().ran;
    assert_eq!(ran("null", &mut session), Ran::Live);
    assert_eq!(ran("hang", &mut session), Ran::Live);
    assert_eq!(ran("burn", &mut session), Ran::Live);
    assert_eq!(ran("self", &mut session), Ran::Fresh { why: WhyFresh::LooksAtItself });
    assert_eq!(ran("socket", &mut session), Ran::Fresh { why: WhyFresh::Call { name: "socket".into() } });
}

#[test]
fn a_batch_whose_every_input_crashes_gives_every_verdict() {
    let program = view(MANY_ENDINGS);
    let mut session = session(&program);
    let inputs: Vec<Input> =
        (0..200).map(|index| args(&[if index % 2 == 0 { "trap" } else { "null" }])).collect();
    let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
    for (index, run) in runs.iter().enumerate() {
        let signal = if index % 2 == 0 { libc::SIGILL } else { libc::SIGSEGV };
        assert_eq!((ending(run), &run.ran), (&Ending::Signalled { signal }, &Ran::Live));
        assert_eq!(run.execution.counters[if index % 2 == 0 { 11 } else { 4 }], 1);
    }
    assert_eq!((session.counts().n_crashes, session.counts().n_fresh_in_all()), (200, 0));
}

#[test]
fn fuel_is_calibrated_and_then_ends_hangs_at_once() {
    let program = view(MANY_ENDINGS);
    let mut session = session(&program);
    let few = [args(&["steps", "7"]), args(&["hang"]), args(&["steps", "5"])];
    assert_eq!(
        session.calibrate(&few).unwrap(),
        Calibration { limit: 1_000_000, most_used: 7, n_timed_out: 1 }
    );
    assert_eq!(
        session.calibrate(&[args(&["steps", "300000"])]).unwrap(),
        Calibration { limit: 3_000_000, most_used: 300_000, n_timed_out: 0 }
    );
    let run = session.run(&args(&["burn"])).unwrap();
    assert_eq!(
        (ending(&run), run.execution.fuel_used, &run.ran),
        (&Ending::OutOfFuel, 3_000_000, &Ran::Live)
    );
    assert_eq!(session.run_fresh(&args(&["burn"])).unwrap().outcome.ending, Ending::OutOfFuel);
    assert_eq!(session.run(&args(&["steps", "41"])).unwrap().execution.fuel_used, 41);
}

#[test]
fn inputs_of_one_batch_find_their_own_files_and_streams() {
    let program = view(MANY_ENDINGS);
    let mut session = session(&program);
    let mut inputs = Vec::new();
    for index in 0..40 {
        let content = format!("content {}", index % 7);
        let files = match index % 5 {
            0 => vec![file("a", &content)],
            1 => vec![file("a", &content), file("b/c", "deep")],
            _ => vec![file("a", &content), file("d", "other")],
        };
        inputs.push(Input { files, ..args(&["read", "a"]) });
        inputs.push(Input { stdin: Bytes(content.clone().into()), ..args(&["cat"]) });
        let environment = vec![("V".into(), Bytes(content.into()))];
        inputs.push(Input { environment, ..args(&["env", "V"]) });
        inputs.push(Input { files: vec![file("a", "old")], ..args(&["write", "a", "new"]) });
    }
    let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
    for (input, run) in inputs.iter().zip(&runs) {
        let fresh = session.run_fresh(input).unwrap();
        assert_same(&run.execution, &fresh, &format!("{:?}", input.args));
        assert_eq!(run.ran, Ran::Live);
    }
    let written = &runs[3].execution.outcome.files["a"];
    assert!(matches!(written, FileChange::Written { content, .. } if content.bytes.0 == b"new"));
}

#[test]
fn contents_that_change_travel_with_the_batch() {
    let program = view(MANY_ENDINGS);
    let mut session = session(&program);
    let inputs: Vec<Input> = (0..64)
        .map(|index| Input { files: vec![file("a", &format!("{index}"))], ..args(&["read", "a"]) })
        .collect();
    let runs = session.run_batch(&inputs, Wants::EVERYTHING).unwrap();
    for (index, run) in runs.iter().enumerate() {
        assert_eq!(stdout(&run.execution), format!("run 1\na: {index}\n"));
        assert!(run.execution.outcome.files.is_empty(), "{:?}", run.execution.outcome.files);
    }
    assert_eq!(session.counts().n_batches, 1);
}

#[test]
fn novelty_is_told_against_the_baseline() {
    let program = view(MANY_ENDINGS);
    let mut session = session(&program);
    let inputs = ["exit", "_exit", "abort", "socket"].map(|what| args(&[what, "0"]));
    let mut n_new = Vec::new();
    for _ in 0..2 {
        for run in session.run_batch(&inputs, Wants::NOVELTY).unwrap() {
            n_new.push(run.n_new);
            assert_eq!(run.execution.counters.is_empty(), run.n_new == 0);
            for (seen, count) in session.baseline().iter_mut().zip(&run.execution.counters) {
                *seen |= cairn_abi::session::class(*count);
            }
        }
    }
    // All of a batch are compared with what was known before it.
    assert_eq!(n_new, [2, 2, 2, 2, 0, 0, 0, 0]);
}

#[test]
fn inputs_a_session_cannot_give_run_fresh_with_a_reason() {
    let program = view(MANY_ENDINGS);
    let mut session = session(&program);
    let early = Input { environment: vec![("LD_DEBUG".into(), "x".into())], ..args(&["exit", "1"]) };
    let large = Input { stdin: Bytes(vec![b'x'; 5 << 20]), ..args(&["exit", "2"]) };
    let runs = session.run_batch(&[early, args(&["exit", "3"]), large], Wants::EVERYTHING).unwrap();
    let codes: Vec<_> = runs.iter().map(ending).collect();
    assert_eq!(
        codes,
        [&Ending::Exited { code: 1 }, &Ending::Exited { code: 3 }, &Ending::Exited { code: 2 }]
    );
    let ran: Vec<_> = runs.iter().map(|run| run.ran.clone()).collect();
    let fresh = |why| Ran::Fresh { why };
    let variable = WhyFresh::Variable { name: "LD_DEBUG".into() };
    assert_eq!(ran, [fresh(variable), Ran::Live, fresh(WhyFresh::TooLarge)]);
}

#[test]
fn a_build_without_a_runtime_is_run_in_fresh_processes() {
    let program = support::program("int main(int argc, char **argv) { return argc; }");
    let target = cairn_executor::Target { program: program.path.clone(), n_counters: 0 };
    let mut session = Session::new(target, session_config()).unwrap();
    assert_eq!(*session.mode(), SessionMode::Fresh { why: "it was built without instrumentation".into() });
    let run = session.run(&args(&["a"])).unwrap();
    assert_eq!(
        (ending(&run), run.ran.clone()),
        (&Ending::Exited { code: 2 }, Ran::Fresh { why: WhyFresh::NoSession })
    );
}

#[test]
fn a_program_that_dies_before_main_is_run_in_fresh_processes() {
    let program = view(
        r#"#include <stdlib.h>
        __attribute__((constructor)) static void early(void) { abort(); }
        int main(void) { return 0; }"#,
    );
    let mut session = session(&program);
    assert_eq!(*session.mode(), SessionMode::Fresh { why: "it died of signal 6 before it was ready".into() });
    assert_eq!(*ending(&session.run(&args(&[])).unwrap()), Ending::Signalled { signal: 6 });
}

#[test]
fn runners_are_replaced_when_they_are_old() {
    let program = view(MANY_ENDINGS);
    let mut config = session_config();
    config.recycle_after = 100;
    config.max_batch = 10;
    let mut session = Session::new(target(&program), config).unwrap();
    let inputs = vec![args(&["exit", "0"]); 1000];
    session.run_batch(&inputs, Wants::NOVELTY).unwrap();
    let counts = session.counts();
    assert_eq!((counts.n_live, counts.n_recycled, counts.n_runners), (1000, 9, 10));
}
