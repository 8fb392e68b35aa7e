//! What detailed symbolic runs tell beside branches: values of expressions, guideposts, functions entered and left.
//!
//! Every fixture `event_*` has a golden trace of its first input. Where something is solved for, what was found is run on the
//! bare build.

#[path = "events/guideposts.rs"]
mod guideposts;
#[path = "events/infections.rs"]
mod infections;
#[path = "events/support.rs"]
mod support;
#[path = "events/truth.rs"]
mod truth;

use cairn_testkit::{Workspace, fixture};
use expect_test::expect_file;
use serde_json::Value;
use std::{collections::BTreeSet, fs};
use support::{built, json, site};

/// Compares the events of a fixture's first input with its `trace.expect`.
#[track_caller]
fn golden(name: &str, more: &[&str]) {
    let workspace = built(name);
    let trace = workspace.run("cairn", ["trace", "./program", "inputs/start", "--all"].iter().chain(more));
    let trace = trace.success();
    // How much is read of the environment depends on who runs the test.
    let lines = trace.stdout.lines().filter_map(|line| line.strip_prefix("    "));
    let events: Vec<&str> = lines.filter(|line| !line.trim_start().starts_with("(read)")).collect();
    expect_file![fixture(name).join("trace.expect")].assert_eq(&(events.join("\n") + "\n"));
}

macro_rules! goldens {
    ($($name:ident $([$($word:literal)*])?)*) => {
        $(#[test]
        fn $name() {
            golden(stringify!($name), &[$($($word),*)?]);
        })*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

goldens! {
    event_double ["--sites"]
    event_exception
    event_guidepost
    event_longjmp
    event_loop_bound ["--sites"]
    event_recursion
}

#[test]
fn every_fixture_has_a_golden_trace() {
    let all: BTreeSet<String> = fs::read_dir(fixture("."))
        .expect("the fixtures")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("event_"))
        .collect();
    assert_eq!(all, NAMES.iter().map(|name| (*name).to_owned()).collect());
}

/// Asks for a value and returns the report.
#[track_caller]
fn solve(workspace: &Workspace, text: &str, number: usize, value: &str, more: &[&str]) -> Value {
    let id = site(workspace, text, number);
    let words = ["solve", "./program", "inputs/start", "--site", &id, "--value", value, "--json"];
    json(&workspace.run("cairn", words.iter().chain(more)))
}

/// What the bare build printed on what was found.
fn printed(report: &Value) -> &str {
    report["found"][0]["outcome"]["stdout"]["bytes"].as_str().unwrap_or_else(|| panic!("{report:#}"))
}

#[test]
fn a_loop_is_given_its_number_of_turns() {
    let workspace = built("event_loop_bound");
    let report = solve(&workspace, "sz", 0, "7", &[]);
    assert_eq!((printed(&report), &report["found"][0]["run"]), ("679\n", &"has the value".into()));
    assert_eq!((&report["n_disagreements"], &report["n_questions"]), (&0.into(), &1.into()));
    let command = report["found"][0]["reproduce"].as_str().expect("a command");
    assert_eq!(workspace.sh(command).stdout, "679\n");
}

#[test]
fn the_occurrence_says_which_evaluation_is_meant() {
    let workspace = built("event_loop_bound");
    // The first turn is over, so there was one.
    let report = solve(&workspace, "sz", 0, "0", &["--occurrence", "2"]);
    assert_eq!(report["attempts"][0]["answer"], "no input takes the same way and has this value here");
    let report = solve(&workspace, "sz", 0, "5", &["--occurrence", "all"]);
    let occurrences: Vec<&Value> =
        report["attempts"].as_array().expect("a list").iter().map(|attempt| &attempt["occurrence"]).collect();
    assert_eq!(
        (occurrences, report["found"].as_array().map(Vec::len)),
        (vec![&1.into(), &2.into()], Some(2))
    );
}

#[test]
fn a_sum_is_solved_for_through_the_loop_that_makes_it() {
    let workspace = built("event_loop_bound");
    let report = solve(&workspace, "total", 1, "200", &[]);
    assert_eq!(printed(&report), "200\n");
}

#[test]
fn a_floating_point_value_is_asked_for_as_a_number() {
    let workspace = built("event_double");
    assert_eq!(printed(&solve(&workspace, "half", 0, "12.5", &[])), "109.5\n");
    let report = solve(&workspace, "half", 0, "0.25", &[]);
    assert_eq!(report["found"].as_array().map(Vec::len), Some(0), "{report:#}");
}

#[test]
fn a_value_that_is_there_needs_no_other_input() {
    let workspace = built("event_loop_bound");
    let report = solve(&workspace, "sz", 0, "1", &[]);
    assert_eq!((printed(&report), &report["n_questions"]), ("97\n", &0.into()));
}

#[test]
fn what_cannot_be_asked_is_told() {
    let workspace = built("event_loop_bound");
    let ask = |text: &str, value: &str| {
        let id = site(&workspace, text, 0);
        workspace.run("cairn", ["solve", "./program", "inputs/start", "--site", &id, "--value", value])
    };
    let refused = ask("sz", "many").exits_with(2);
    assert!(refused.stderr.contains("`many` is no signed integer of 32 bits"), "{refused}");
    let refused = ask("bytes", "1").exits_with(2);
    assert!(refused.stderr.contains("cannot be observed"), "{refused}");
    let missed = ask("i", "7").exits_with(8);
    assert!(missed.stdout.contains("does not depend on the input"), "{missed}");
    workspace.write("inputs/start", "a");
    let missed = ask("sz", "7").exits_with(8);
    assert!(missed.stdout.contains("this input does not come to the expression"), "{missed}");
}
