//! Fuzzing of real programs, judged by the bare build.

mod support;

use cairn_fuzz::{FuzzConfig, FuzzStrategy, RegionKind};
use cairn_model::{Ending, Input};
use cairn_strategy::{Budget, Candidate, Strategy as _};
use std::time::Duration;
use support::{Campaign, Program, prints};

/// Fuzzes a fixture until the bare build says `found`, and returns how often inputs were tried and what was found.
#[track_caller]
fn find(program: &Program, config: FuzzConfig, n_inputs: u64) -> Candidate {
    let mut campaign = Campaign::new(program, 1, &[program.start()]);
    let mut strategy = FuzzStrategy::new(config);
    let is_found = |candidate: &Candidate| prints(program, &candidate.input) == "found\n";
    let candidates = campaign.steps(&mut strategy, n_inputs, is_found);
    let found = candidates.iter().find(|candidate| is_found(candidate));
    let list: Vec<String> =
        candidates.iter().map(|candidate| format!("{}: {}", candidate.reason, candidate.input)).collect();
    eprintln!("{:?}\n{}", strategy.counts(), list.join(""));
    found.cloned().unwrap_or_else(|| panic!("not found in {n_inputs} inputs:\n{}", list.join("")))
}

fn config(program: &Program) -> FuzzConfig {
    FuzzConfig::of_template(&program.template)
}

#[test]
fn comparisons_lead_through_magic_bytes() {
    let program = Program::fixture("flip_magic_bytes");
    let found = find(&program, FuzzConfig { literals: false, ..config(&program) }, 1000);
    assert_eq!(found.input.stdin.0, b"\x7fELF");
}

#[test]
fn comparisons_lead_through_a_harness() {
    let program = Program::fixture("flip_harness");
    find(&program, FuzzConfig { literals: false, ..config(&program) }, 1000);
}

#[test]
fn comparisons_of_words_numbers_and_fractions_are_answered() {
    for name in ["flip_strcmp", "flip_64_bit", "flip_big_endian", "flip_double_compare"] {
        let program = Program::fixture(name);
        let regions = RegionKind::ALL.to_vec();
        let config = FuzzConfig { literals: false, regions, ..config(&program) };
        find(&program, config, 4000);
    }
}

#[test]
fn coverage_alone_leads_through_magic_bytes_one_by_one() {
    let program = Program::fixture("flip_magic_bytes");
    find(&program, FuzzConfig { comparisons: false, literals: false, ..config(&program) }, 100_000);
}

#[test]
fn options_are_found_by_words_of_the_program() {
    let program = Program::fixture("flip_argv_option");
    let config = FuzzConfig { comparisons: false, regions: vec![RegionKind::Arguments], ..config(&program) };
    let found = find(&program, config, 100_000);
    let words: Vec<_> = found.input.args.iter().map(|word| word.0.as_slice()).collect();
    assert!(words.contains(&&b"--verbose"[..]), "{}", found.input);
}

#[test]
fn crashes_are_candidates_and_come_first() {
    let text = "#include <stdio.h>\nint main(void) {\n  int c = getchar();\n  if (c == 'a') puts(\"a\");\n  \
                if (c == 'b') *(volatile int *)0 = 1;\n  return 0;\n}\n";
    let program = Program::text(text, true);
    let mut campaign = Campaign::new(&program, 1, &[program.template.fill(b"x".to_vec())]);
    let mut strategy = FuzzStrategy::new(config(&program));
    let (candidates, _) = campaign.step(&mut strategy, &Budget::of_inputs(2000));
    let ending = |input: &Input| {
        use cairn_strategy::TargetViews as _;
        program.bare().unwrap().run(input).unwrap().outcome.ending
    };
    assert_eq!(ending(&candidates[0].input), Ending::Signalled { signal: 11 });
    let n_crashes = candidates.iter().filter(|candidate| ending(&candidate.input).is_failure()).count();
    assert!(n_crashes < 6, "{n_crashes} candidates are the same crash");
    assert!(candidates.iter().any(|candidate| candidate.input.stdin.0.starts_with(b"a")));
}

#[test]
fn the_same_seed_decides_the_same() {
    let program = Program::fixture("flip_line_parser");
    let run = |seed: u64| {
        let mut campaign = Campaign::new(&program, seed, &[program.start()]);
        campaign.steps(&mut FuzzStrategy::new(config(&program)), 6_000, |_| false)
    };
    let first = run(7);
    assert!(first.len() > 3, "{}", first.len());
    assert_eq!(first, run(7));
    assert_ne!(first, run(8));
}

#[test]
fn what_others_found_is_not_found_again() {
    let program = Program::fixture("flip_magic_bytes");
    let start = program.start();
    let mut alone = Campaign::new(&program, 1, std::slice::from_ref(&start));
    let found = alone.steps(&mut FuzzStrategy::new(config(&program)), 1000, |_| false);
    assert!(!found.is_empty());

    let mut inputs = vec![start];
    inputs.extend(found.into_iter().map(|candidate| candidate.input));
    let mut together = Campaign::new(&program, 1, &inputs);
    let again = together.steps(&mut FuzzStrategy::new(config(&program)), 1000, |_| false);
    let is_known = |candidate: &Candidate| inputs.contains(&candidate.input);
    assert!(!again.iter().any(is_known), "{again:?}");
    assert!(again.len() < inputs.len(), "{again:?}");
}

#[test]
fn what_was_turned_down_is_proposed_again_but_not_for_ever() {
    let program = Program::text(
        "#include <stdio.h>\nint main(void) {\n  if (getchar() == 'q') puts(\"q\");\n}\n",
        false,
    );
    let mut campaign = Campaign::new(&program, 1, &[program.template.fill(b"x".to_vec())]);
    let mut strategy = FuzzStrategy::new(config(&program));
    let n_in_vain = (0..6)
        .map(|_| campaign.step_in_vain(&mut strategy, &Budget::of_inputs(20_000)))
        .filter(|candidates| candidates.iter().any(|candidate| candidate.input.stdin.0.starts_with(b"q")))
        .count();
    assert_eq!(n_in_vain, 3);
}

#[test]
fn without_a_symbolic_view_it_says_so_and_goes_on() {
    let program = Program::text(
        "#include <stdio.h>\nint main(void) {\n  if (getchar() == 'q') puts(\"q\");\n}\n",
        false,
    );
    let mut campaign = Campaign::new(&program, 1, &[program.template.fill(b"x".to_vec())]);
    let mut strategy = FuzzStrategy::new(config(&program));
    let candidates = campaign.steps(&mut strategy, 20_000, |_| false);
    assert!(candidates.iter().any(|candidate| candidate.input.stdin.0.first() == Some(&b'q')));
    let expected = "the target has no symbolic view, so the fuzzer does not see what the program compares its input with";
    assert_eq!(strategy.notices(), [expected]);
    assert_eq!(strategy.name(), "fuzz");
}

#[test]
fn a_mutator_of_the_harness_gets_where_nothing_else_does() {
    let program = Program::fixture("harness_mutator");
    let found = find(&program, config(&program), 20_000);
    assert_eq!(found.reason.split(", ").next(), Some("buffer: the harness's mutator"));

    let text = format!("#define WITHOUT_MUTATOR\n{}", program.workspace.read("target.c"));
    let without = Program::text(&text, true);
    let mut campaign = Campaign::new(&without, 1, &[program.start()]);
    let candidates = campaign.steps(&mut FuzzStrategy::new(config(&without)), 20_000, |_| false);
    assert!(candidates.iter().all(|candidate| prints(&without, &candidate.input) != "found\n"));
}

#[test]
fn a_mutator_that_crashes_is_told_and_left_alone() {
    let program = Program::fixture("harness_mutator_crash");
    let mut campaign = Campaign::new(&program, 1, &[program.start()]);
    let mut strategy = FuzzStrategy::new(config(&program));
    let is_found = |candidate: &Candidate| prints(&program, &candidate.input) == "found\n";
    let candidates = campaign.steps(&mut strategy, 20_000, is_found);
    assert!(candidates.iter().any(is_found), "{candidates:?}");
    let expected = "the harness's own `LLVMFuzzerCustomMutator` fails: it died of signal 11; it fails too often, so the \
                    fuzzer goes on without it";
    assert_eq!(strategy.notices(), [expected]);
    assert_eq!(strategy.counts().n_asked_of_harness, 3);
}

#[test]
fn a_mutator_without_a_live_process_is_told() {
    let text = r#"
        #include <pthread.h>
        #include <unistd.h>
        #include <stddef.h>
        static void *wait(void *nothing) { pause(); return nothing; }
        __attribute__((constructor)) static void start(void) {
          pthread_t thread;
          pthread_create(&thread, NULL, wait, NULL);
        }
        int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) { return size && data[0] == 'a'; }
        size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t max_size, unsigned seed) {
          return size;
        }"#;
    let program = Program::text(text, false);
    let mut campaign = Campaign::new(&program, 1, &[program.template.fill(b"x".to_vec())]);
    let mut strategy = FuzzStrategy::new(FuzzConfig { comparisons: false, ..config(&program) });
    campaign.step(&mut strategy, &Budget::of_inputs(5));
    let expected = "the harness's own `LLVMFuzzerCustomMutator` is not called, because there is no live process: it starts \
                    threads before `main`";
    assert_eq!(strategy.notices(), [expected]);
}

#[test]
fn without_seeds_it_begins_with_nothing() {
    let program = Program::fixture("flip_magic_bytes");
    let mut campaign = Campaign::new(&program, 1, &[]);
    let mut strategy = FuzzStrategy::new(config(&program));
    let (candidates, spent) = campaign.step(&mut strategy, &Budget::of_inputs(500));
    assert_eq!(spent.inputs, 500);
    assert!(spent.target_runs >= 500);
    assert!(candidates.iter().any(|candidate| candidate.reason == "where everything begins"));
}

/// Hangs on many inputs, always at the same place.
const HANGS: &str = "#include <stdio.h>\nstatic volatile int spins;\nint main(void) {\n  int c = getchar();\n  \
                     if (c == 'a') puts(\"a\");\n  while (c > 'y')\n    spins++;\n  return 0;\n}\n";

#[test]
fn a_place_where_a_program_hangs_is_waited_for_once() {
    let program = Program::text(HANGS, true);
    let mut campaign = Campaign::new(&program, 1, &[program.template.fill(b"x".to_vec())]);
    campaign.give_up_after(Duration::from_millis(25), Duration::from_millis(500));
    let mut strategy = FuzzStrategy::new(config(&program));
    let (candidates, _) = campaign.step(&mut strategy, &Budget::of_inputs(300));
    let counts = strategy.counts();
    assert!(counts.n_out_of_time > 10, "{counts:?}");
    // A busy machine may let others wait, too.
    assert!(counts.n_waited_for < counts.n_out_of_time / 2, "{counts:?}");
    let hangs = candidates.iter().filter(|candidate| candidate.failed == Some(Ending::TimedOut)).count();
    assert!((1..=2).contains(&hangs), "{counts:?}");
}

#[test]
fn what_is_slow_and_new_is_not_lost() {
    let text = "#include <stdio.h>\n#include <unistd.h>\nstatic volatile int spins;\nint main(void) {\n  \
                int c = getchar();\n  if (c == 'q') {\n    for (int i = 0; i < 20000000; i++) spins++;\n    \
                puts(\"found\");\n  }\n  return 0;\n}\n";
    let program = Program::text(text, true);
    let mut campaign = Campaign::new(&program, 1, &[program.template.fill(b"x".to_vec())]);
    // Nothing that counts so far ends in this.
    campaign.give_up_after(Duration::from_millis(10), Duration::from_secs(5));
    let mut strategy = FuzzStrategy::new(config(&program));
    let (candidates, _) = campaign.step(&mut strategy, &Budget::of_inputs(40));
    let found = candidates.iter().find(|candidate| candidate.input.stdin.0.starts_with(b"q"));
    let found = found.unwrap_or_else(|| panic!("it is lost: {:?}", strategy.counts()));
    assert_eq!(found.failed, None);
}
