//! Mutants in a session: examined, run, observed, guided, confirmed.

mod support;

use cairn_executor::{
    Compared, ExecutorError, Ran, SessionMode, WhyFresh,
    mutants::{Examined, GuidedEnd, MAX_VALUES, MutantRun, MutantSession, Observe, ReachFile},
    oracle::{Judged, Masks, Oracle, Reference},
};
use cairn_model::{
    Ending, Guidepost, Input, KillReason, MutantId, MutantTable, PatchId, SiteValue, Verdict,
    guidepost::{Predicate, When},
};
use std::{process::Command, sync::Arc};
use support::{
    Program, args,
    mutants::{all, mutant_session, table},
    stdout,
    view::{harness, session_processes, view},
};

/// Sums `x + 1` over its arguments. `add` has selectors 1 (`x - 1`), 2 (`x * 1`) and 3 (`x + 1` for all but 7, where it
/// is wild); `end` has 5 (crash), 6 (no end), 7 (status 3).
const SUMS: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #undef MUTANT_NAMES
    #define MUTANT_NAMES {1, 1, 1}, {2, 1, 2}, {3, 1, 3}, {5, 1, 5}, {6, 1, 6}, {7, 1, 7}
    MUTANTS(2, 2, 9, 1, 5, 9);
    static int add(int x) {
        int body = BODY(0);
        HIT(10);
        return PATCH(body, 0, 1, x + 1, x - 1, x * 1, x == 7 ? 0 : x + 1);
    }
    static int end(int sum) {
        int body = BODY(1);
        HIT(11);
        switch (PATCH(body, 1, 5, 0, 1, 2, 3)) {
        case 1: HIT(20); fflush(stdout); abort();
        case 2: HIT(21); for (;;) STEP();
        case 3: HIT(22); return 3;
        }
        return 0;
    }
    int main(int argc, char **argv) {
        int sum = 0;
        for (int i = 1; i < argc; i++) { STEP(); sum += add(atoi(argv[i])); }
        printf("%d\n", sum);
        return argc > 3 ? 0 : end(sum);
    }"#;

fn sums() -> (Program, Arc<MutantTable>) {
    (view(SUMS), table(&[(0, 3), (1, 3)]))
}

fn ids(numbers: &[u32]) -> Vec<MutantId> {
    numbers.iter().copied().map(MutantId).collect()
}

fn examine(session: &mut MutantSession, arguments: &[&str]) -> (Vec<u32>, Vec<u32>) {
    let Examined { run, reached, infected } = session.examine(&args(arguments)).unwrap();
    assert_eq!(run.ran, Ran::Live);
    (reached.iter().map(|patch| patch.0).collect(), infected.iter().map(|mutant| mutant.0).collect())
}

#[test]
fn a_view_that_runs_live_runs_the_original() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    assert!(matches!(session.mode(), SessionMode::Live(_)), "{}", session.mode());
    let run = session.original(&args(&["1", "2"])).unwrap();
    assert_eq!((stdout(&run.execution).as_str(), run.ran), ("5\n", Ran::Live));
}

#[test]
fn an_examining_run_tells_what_an_input_reaches_and_infects() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    assert_eq!(examine(&mut session, &["1"]), (vec![0, 1], vec![0, 1, 3, 4, 5]));
    assert_eq!(examine(&mut session, &["1", "7"]), (vec![0, 1], vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(examine(&mut session, &["1", "2", "3"]), (vec![0], vec![0, 1]), "nothing stays from before");
    assert_eq!(examine(&mut session, &[]), (vec![1], vec![3, 4, 5]));
    let examined = session.examine(&args(&["1", "7"])).unwrap();
    assert_eq!(stdout(&examined.run.execution), "10\n", "the program does what it always does");
    let plain = session.original(&args(&["1", "7"])).unwrap();
    assert_eq!(plain.execution.counters, examined.run.execution.counters);
}

#[test]
fn mutants_run_one_after_the_other_and_leave_nothing() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    session.set_fuel(100_000);
    let runs = session.run(&args(&["1", "7"]), &all(&table)).unwrap();
    let seen: Vec<_> = runs
        .iter()
        .map(|MutantRun { mutant, run }| {
            let outcome = &run.execution.outcome;
            (mutant.0, stdout(&run.execution), outcome.ending.clone(), run.ran.clone())
        })
        .collect();
    let exited = |code| Ending::Exited { code };
    let expected = [
        (0, "6\n", exited(0)),
        (1, "8\n", exited(0)),
        (2, "2\n", exited(0)),
        (3, "10\n", Ending::Signalled { signal: libc::SIGABRT }),
        (4, "", Ending::OutOfFuel),
        (5, "10\n", exited(3)),
    ];
    for (seen, (mutant, text, ending)) in seen.iter().zip(expected) {
        assert_eq!(*seen, (mutant, text.to_string(), ending, Ran::Live));
    }
    // As often as one likes, in any order, and the original in between.
    for _ in 0..50 {
        for mutant in [3, 0, 4, 2] {
            let run = session.run(&args(&["1", "7"]), &ids(&[mutant])).unwrap().remove(0).run;
            assert_eq!(run.execution.outcome.ending, seen[mutant as usize].2);
            assert_eq!(stdout(&run.execution), seen[mutant as usize].1);
        }
        let run = session.original(&args(&["1", "7"])).unwrap();
        assert_eq!((stdout(&run.execution).as_str(), run.ran), ("10\n", Ran::Live));
    }
}

#[test]
fn a_mutant_in_the_session_does_what_it_does_in_a_fresh_process() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    session.set_fuel(100_000);
    for arguments in [&["1", "7"][..], &[], &["5"], &["1", "2", "3"]] {
        let input = args(arguments);
        for MutantRun { mutant, run } in session.run(&input, &all(&table)).unwrap() {
            let fresh = session.run_fresh(&input, Some(mutant)).unwrap();
            assert_eq!(fresh.outcome.ending, run.execution.outcome.ending, "{mutant:?} {arguments:?}");
            assert_eq!(fresh.outcome.stdout, run.execution.outcome.stdout, "{mutant:?} {arguments:?}");
            assert_eq!(fresh.counters, run.execution.counters, "{mutant:?} {arguments:?}");
        }
        let fresh = session.run_fresh(&input, None).unwrap();
        assert_eq!(fresh.outcome.ending, Ending::Exited { code: 0 });
    }
}

#[test]
fn coverage_beyond_the_baseline_is_told_however_a_mutant_ends() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    session.set_fuel(100_000);
    let input = args(&["1"]);
    let original = session.original(&input).unwrap().execution.counters;
    let classes: Vec<u8> = original.iter().map(|count| cairn_abi::session::class(*count)).collect();
    session.baseline().copy_from_slice(&classes);
    let runs = session.run(&input, &all(&table)).unwrap();
    let beyond: Vec<_> = runs
        .iter()
        .map(|mutant| {
            let counters = &mutant.run.execution.counters;
            let new: Vec<_> = cairn_abi::counters::beyond(counters, &original).collect();
            assert_eq!(mutant.run.n_new as usize, new.len());
            new
        })
        .collect();
    assert_eq!(beyond, [vec![], vec![], vec![], vec![20], vec![21], vec![22]]);
}

#[test]
fn values_are_observed_in_order_in_whose_execution_they_are() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    let input = args(&["1", "-3", "7"]);
    let mut observe = |what, limit| {
        let observed = session.observe(&input, what, limit).unwrap();
        let values: Vec<_> = observed.values.iter().map(SiteValue::to_string).collect();
        (values.join(" "), observed.n_evaluations, stdout(&observed.run.execution))
    };
    assert_eq!(observe(Observe::Original(PatchId(0)), 10), ("2 -2 8".into(), 3, "8\n".into()));
    assert_eq!(observe(Observe::Mutant(MutantId(0)), 10), ("0 -4 6".into(), 3, "2\n".into()));
    assert_eq!(observe(Observe::Mutant(MutantId(0)), 2), ("0 -4".into(), 3, "2\n".into()));
    assert_eq!(observe(Observe::Original(PatchId(1)), 10), (String::new(), 0, "8\n".into()));
    assert_eq!(session.run(&input, &ids(&[0])).unwrap()[0].run.execution.outcome.stdout.bytes.0, b"2\n");
}

#[test]
fn more_values_than_there_is_room_for_are_counted() {
    let program = view(
        "MUTANTS(1, 1, 3, 1, 3);
         int main(void) { for (int i = 0; i < 70000; i++) PATCH(BODY(0), 0, 1, i, 0); return 0; }",
    );
    let table = table(&[(0, 1)]);
    let mut session = mutant_session(&program, &table);
    let observed = session.observe(&Input::default(), Observe::Original(PatchId(0)), usize::MAX).unwrap();
    assert_eq!((observed.n_evaluations, observed.values.len()), (70_000, MAX_VALUES));
    assert_eq!(observed.values[MAX_VALUES - 1], SiteValue::Signed(65_535));
}

fn guidepost(patch: u32, when: When, predicate: Predicate) -> Guidepost {
    Guidepost { patch: PatchId(patch), when, predicate }
}

#[test]
fn guideposts_are_kept_broken_or_never_reached() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    let input = args(&["1", "-3", "7"]);
    let values = |numbers: &[i64]| numbers.iter().copied().map(SiteValue::Signed).collect::<Vec<_>>();
    let mut guide = |patch, when, predicate| {
        let guided = session.guide(&input, &guidepost(patch, when, predicate)).unwrap();
        let is_whole = stdout(&guided.run.execution) == "8\n";
        assert_eq!(is_whole, guided.end != GuidedEnd::Broken);
        let ending = guided.run.execution.outcome.ending;
        assert_eq!(ending == Ending::GuidepostBroken, guided.end == GuidedEnd::Broken);
        guided.end
    };
    let one_of = |numbers: &[i64]| Predicate::OneOf(values(numbers));
    let between = |least, greatest| Predicate::Between(SiteValue::Signed(least), SiteValue::Signed(greatest));
    assert_eq!(guide(0, When::Every, one_of(&[8, 2, -2])), GuidedEnd::Satisfied(3));
    assert_eq!(guide(0, When::Every, one_of(&[2, -2])), GuidedEnd::Broken);
    assert_eq!(guide(0, When::First, one_of(&[2])), GuidedEnd::Satisfied(1));
    assert_eq!(guide(0, When::First, one_of(&[8])), GuidedEnd::Broken);
    assert_eq!(guide(0, When::Every, Predicate::NoneOf(values(&[-3, 0]))), GuidedEnd::Satisfied(3));
    assert_eq!(guide(0, When::Every, between(-2, 8)), GuidedEnd::Satisfied(3));
    assert_eq!(guide(0, When::Every, between(-1, 8)), GuidedEnd::Broken);
    assert_eq!(guide(1, When::Every, between(0, 8)), GuidedEnd::NeverReached);
    let differs = |mutant| Predicate::DiffersFromMutant(MutantId(mutant));
    assert_eq!(guide(0, When::Every, differs(0)), GuidedEnd::Satisfied(3), "x + 1 is never x - 1");
    assert_eq!(guide(0, When::Every, differs(2)), GuidedEnd::Broken, "they differ only at 7");
}

#[test]
fn guideposts_that_cannot_be_armed_say_why() {
    let (program, table) = sums();
    let mut table = Arc::unwrap_or_clone(table);
    table.patches[1].is_observable = false;
    let mut session = mutant_session(&program, &Arc::new(table));
    let mut refused = |patch, predicate| {
        let error = session.guide(&Input::default(), &guidepost(patch, When::First, predicate)).unwrap_err();
        error.to_string()
    };
    let many = Predicate::OneOf((0..300).map(SiteValue::Signed).collect());
    let one = Predicate::OneOf(vec![SiteValue::Signed(1)]);
    assert!(refused(0, many).ends_with("it lists 300 values, and can list 256 at most"));
    assert_eq!(refused(1, one.clone()), "the values at patch 1 cannot be observed");
    assert_eq!(refused(2, one), "the target has no patch 2");
    let foreign = Predicate::DiffersFromMutant(MutantId(4));
    assert_eq!(refused(0, foreign), "cannot arm the guidepost: mutant 4 belongs to another patch");
    let unknown = session.run(&Input::default(), &ids(&[6])).unwrap_err();
    assert_eq!(unknown.to_string(), "the target has no mutant 6");
}

#[test]
fn what_is_armed_stays_armed_when_the_processes_are_replaced() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    let input = args(&["1", "7"]);
    for round in 0..3 {
        for pid in session_processes(&program) {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::SIGKILL);
        }
        let values = match round {
            0 => vec![SiteValue::Signed(2)],
            _ => vec![SiteValue::Signed(2), SiteValue::Signed(8)],
        };
        let guided = session.guide(&input, &guidepost(0, When::Every, Predicate::OneOf(values))).unwrap();
        let expected = if round == 0 { GuidedEnd::Broken } else { GuidedEnd::Satisfied(2) };
        assert_eq!(guided.end, expected);
        assert_eq!(examine(&mut session, &["1", "7"]), (vec![0, 1], vec![0, 1, 2, 3, 4, 5]));
    }
}

#[test]
fn mutants_of_a_harness_are_told_by_what_it_returns_and_passes_on() {
    let program = harness(
        "#include <stddef.h>
         MUTANTS(1, 1, 5, 1, 5);
         void cairn_output(const void *, size_t);
         int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
             int value = PATCH(BODY(0), 0, 1, 0, 1, 2, 0);
             cairn_output(value == 2 ? \"other\" : \"usual\", 5);
             return value == 1;
         }",
    );
    let table = table(&[(0, 3)]);
    let mut session = mutant_session(&program, &table);
    let input = Input { buffer: Some("abc".into()), ..Input::default() };
    let original = session.original(&input).unwrap();
    assert_eq!(original.ran, Ran::Live);
    let runs = session.run(&input, &all(&table)).unwrap();
    let (oracle, masks) = (Oracle::default(), Masks::default());
    let reference = Reference { oracle: &oracle, original: &original.execution.outcome, masks: &masks };
    let verdicts: Vec<_> = runs.iter().map(|run| reference.verdict(&run.run.execution.outcome)).collect();
    let killed = Verdict::Killed(KillReason::Output);
    assert_eq!(verdicts, [killed, killed, Verdict::Survived]);
}

/// A constructor with a mutant that makes a difference, and one that makes none.
const EARLY: &str = r#"
    #include <stdio.h>
    MUTANTS(2, 2, 6, 1, 4, 6);
    static int value;
    __attribute__((constructor)) static void construct(void) { value = PATCH(BODY(0), 0, 1, 5, 6, 5); }
    int main(void) { printf("%d %d\n", value, PATCH(BODY(1), 1, 4, 1, 2)); return 0; }"#;

#[test]
fn a_mutant_that_acts_before_main_runs_in_a_fresh_process() {
    let program = view(EARLY);
    let table = table(&[(0, 2), (1, 1)]);
    let mut session = mutant_session(&program, &table);
    assert_eq!(examine(&mut session, &[]), (vec![0, 1], vec![0, 2]));
    let runs = session.run(&Input::default(), &all(&table)).unwrap();
    let seen: Vec<_> = runs.iter().map(|mutant| (stdout(&mutant.run.execution), &mutant.run.ran)).collect();
    let early = Ran::Fresh { why: WhyFresh::BeforeMain };
    assert_eq!(seen, [("6 1\n".into(), &early), ("5 1\n".into(), &Ran::Live), ("5 2\n".into(), &Ran::Live)]);
    let observed = session.observe(&Input::default(), Observe::Original(PatchId(0)), 9).unwrap();
    assert_eq!((observed.values, observed.run.ran), (vec![SiteValue::Signed(5)], early));
}

#[test]
fn what_cannot_be_run_live_is_examined_run_and_observed_in_fresh_processes() {
    let program = view(
        "#include <unistd.h>
         #include <sys/wait.h>
         MUTANTS(1, 1, 3, 1, 3);
         int main(void) {
             if (fork() == 0) _exit(0);
             wait(0);
             return PATCH(BODY(0), 0, 1, 1, 2);
         }",
    );
    let table = table(&[(0, 1)]);
    let mut session = mutant_session(&program, &table);
    let input = Input::default();
    let examined = session.examine(&input).unwrap();
    assert!(matches!(examined.run.ran, Ran::Fresh { .. }));
    assert_eq!((examined.reached, examined.infected), (vec![PatchId(0)], ids(&[0])));
    assert_eq!(session.original(&input).unwrap().execution.outcome.ending, Ending::Exited { code: 1 });
    let run = session.run(&input, &ids(&[0])).unwrap().remove(0).run;
    assert_eq!(run.execution.outcome.ending, Ending::Exited { code: 2 });
    let observed = session.observe(&input, Observe::Mutant(MutantId(0)), 9).unwrap();
    assert_eq!((observed.values, observed.n_evaluations), (vec![SiteValue::Signed(2)], 1));
    let broken = guidepost(0, When::First, Predicate::OneOf(vec![SiteValue::Signed(9)]));
    assert_eq!(session.guide(&input, &broken).unwrap().end, GuidedEnd::Broken);
}

#[test]
fn a_table_of_another_build_is_refused() {
    let (program, _) = sums();
    let target = support::view::target(&program);
    let config = support::view::session_config();
    let other = table(&[(0, 3), (1, 5000)]);
    let error = MutantSession::new(target, other, config.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the target refused its channel: it does not hold the mutants of its table"
    );
    let plain = view("int main(void) { return 0; }");
    let error = MutantSession::new(support::view::target(&plain), table(&[(0, 1)]), config).unwrap_err();
    assert!(matches!(error, ExecutorError::Refused { .. }), "{error}");
}

#[test]
fn a_fresh_process_kills_for_the_same_reasons() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    session.set_fuel(100_000);
    let input = args(&["1"]);
    let original = session.original(&input).unwrap().execution.outcome;
    let (oracle, masks) = (Oracle::default(), Masks::default());
    let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
    let mut killed = |mutant| {
        let fresh = session.run_fresh(&input, Some(MutantId(mutant))).unwrap();
        reference.judge(&fresh.outcome)
    };
    assert_eq!(killed(3), Some(KillReason::Crash(libc::SIGABRT)));
    assert_eq!(killed(4), Some(KillReason::Fuel));
    assert_eq!(killed(5), Some(KillReason::Exit));
}

#[test]
fn programs_without_a_host_note_the_same() {
    let (program, table) = sums();
    let path = program.folder.path().join("reach");
    for arguments in [&["1"][..], &["1", "7", "1"]] {
        let ran = Command::new(&program.path).args(arguments).env("CAIRN_REACH", &path).output().unwrap();
        assert!(ran.status.success());
    }
    assert!(ReachFile::is_at(&path) && !ReachFile::is_at(&program.path));
    let read = ReachFile::read(&path, &table).unwrap();
    assert_eq!(read.reached, [PatchId(0), PatchId(1)]);
    assert_eq!(read.infected, ids(&[0, 1, 2, 3, 4, 5]));
    let mut renamed = (*table).clone();
    renamed.mutants[0].stable_id.0 ^= 1;
    let others = [support::mutants::table(&[(0, 3), (1, 4)]), renamed.into()];
    for other in others {
        let error = ReachFile::read(&path, &other).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("it belongs to another program, another build or another set of mutants"),
            "{error}"
        );
    }
}

/// Compares numbers by their value, and crashes, hangs or changes its mind on request.
const COMPARES: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    MUTANTS(1, 1, 4, 1, 4);
    int cairn_compare(const void *one, size_t n_one, const void *other, size_t n_other) {
        if (n_other == 5 && memcmp(other, "crash", 5) == 0) abort();
        if (n_other == 4 && memcmp(other, "hang", 4) == 0) for (;;) ;
        char a[64] = {0}, b[64] = {0};
        memcpy(a, one, n_one < 63 ? n_one : 63);
        memcpy(b, other, n_other < 63 ? n_other : 63);
        return atof(a) != atof(b);
    }
    int main(void) {
        switch (PATCH(BODY(0), 0, 1, 0, 1, 2)) {
        case 0: printf("1.50\n"); break;
        case 1: printf("1.5\n"); break;
        case 2: printf("1.51\n"); break;
        }
        return 0;
    }"#;

#[test]
fn the_programs_own_comparison_has_the_last_word() {
    let program = view(COMPARES);
    let table = table(&[(0, 2)]);
    let mut session = mutant_session(&program, &table);
    assert_eq!(session.compare(b"1.5", b"1.50").unwrap(), Compared::Same);
    assert_eq!(session.compare(b"1.5", b"").unwrap(), Compared::Different);
    let failure = |compared| match compared {
        Compared::Failed(failure) => failure.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(failure(session.compare(b"", b"crash").unwrap()), "the comparison died of signal 6");
    assert_eq!(failure(session.compare(b"", b"hang").unwrap()), "the comparison took too long");

    let original = session.original(&Input::default()).unwrap().execution.outcome;
    let runs = session.run(&Input::default(), &all(&table)).unwrap();
    let (oracle, masks) = (Oracle::default(), Masks::default());
    let reference = Reference { oracle: &oracle, original: &original, masks: &masks };
    let verdicts: Vec<_> = runs
        .iter()
        .map(|mutant| {
            let outcome = &mutant.run.execution.outcome;
            let judged = reference.judge_with(outcome, |one, other| session.compare(one, other)).unwrap();
            (reference.verdict(outcome), judged)
        })
        .collect();
    let killed = Verdict::Killed(KillReason::Output);
    assert_eq!(verdicts, [(killed, Judged::Verdict(Verdict::Survived)), (killed, Judged::Verdict(killed))]);
}

#[test]
fn a_program_without_a_comparison_says_so() {
    let (program, table) = sums();
    let mut session = mutant_session(&program, &table);
    let error = session.compare(b"", b"").unwrap_err();
    assert_eq!(error.to_string(), "the target refused its channel: it has no function `cairn_compare`");
    assert!(error.hint().is_some_and(|hint| hint.contains("cairn_compare")));
    assert!(session.original(&Input::default()).is_ok());
}
