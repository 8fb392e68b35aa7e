//! Tests as shell commands, with the mutant view in the program's place.

use super::support::{KINDS, fates, json, number, workspace};
use cairn_testkit::{Ran, Workspace};
use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
};

fn suite(tests: &str) -> Workspace {
    let workspace = workspace(KINDS, &[]);
    workspace.write("tests.txt", tests);
    fs::copy(workspace.path("program"), workspace.path("before")).unwrap();
    workspace
}

fn score(workspace: &Workspace, options: &[&str]) -> Ran {
    workspace.run("cairn", ["score", "./program", "--tests", "tests.txt"].iter().chain(options))
}

#[track_caller]
fn is_as_before(workspace: &Workspace) {
    assert_eq!(fs::read(workspace.path("program")).unwrap(), fs::read(workspace.path("before")).unwrap());
    let hidden = fs::read_dir(workspace.root()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = hidden.filter(|name| name.to_string_lossy().starts_with(".program")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn tests_kill_mutants_by_failing_and_the_program_gets_back() {
    let workspace = suite(
        "# What small numbers are.\n\ntest \"$(echo 5 | ./program)\" = small\ntest \"$(echo 1000 | ./program)\" = large\n",
    );
    let report = json(&score(&workspace, &["--format", "json"]).success());
    is_as_before(&workspace);
    assert!(number(&report, "killed") > 0 && number(&report, "not_reached") > 0, "{:#}", report["score"]);
    assert_eq!(report["inputs"].as_array().unwrap().len(), 2);
    // A test that looks at nothing kills only what it cannot overlook.
    workspace.write("tests.txt", "echo 5 | ./program; echo 1000 | ./program; true\n");
    let blind = json(&score(&workspace, &["--format", "json"]).success());
    assert_eq!(blind["score"]["killed_by"]["exit"], serde_json::Value::Null, "{:#}", blind["score"]);
    assert!(fates(&blind).values().any(|(fate, _)| fate == "infected"), "{:#}", blind["score"]);
}

#[test]
fn the_same_mutants_fall_to_tests_and_to_inputs() {
    let workspace = suite("test \"$(echo 5 | ./program)\" = small\n");
    let tests = json(&score(&workspace, &["--format", "json"]).success());
    workspace.write("inputs/five", "5\n");
    let inputs = super::support::report(&workspace, &[]);
    let killed = |report| -> Vec<String> {
        fates(report).into_iter().filter(|(_, (fate, _))| fate == "killed").map(|(id, _)| id).collect()
    };
    // The shell does not pass the exit status on that the inputs' oracle sees.
    assert!(killed(&tests).iter().all(|id| killed(&inputs).contains(id)));
    assert!(!killed(&tests).is_empty());
}

#[test]
fn a_test_that_fails_anyway_has_no_say() {
    let workspace = suite("false\ntest \"$(echo 5 | ./program)\" = small\n");
    let ran = score(&workspace, &[]).success();
    assert!(
        ran.stderr.contains("warning: `false` has no say: fails (exit status: 1) with the program as it is"),
        "{ran}"
    );
    workspace.write("tests.txt", "false\n");
    score(&workspace, &[]).exits_with(7);
    workspace.write("tests.txt", "# none\n");
    let ran = score(&workspace, &[]).exits_with(2);
    assert!(ran.stderr.contains("there are no tests in `tests.txt`"), "{ran}");
    is_as_before(&workspace);
}

#[test]
fn a_test_that_sees_the_view_or_replaces_it_gives_no_score() {
    let workspace = suite("cmp -s program before\n");
    let ran = score(&workspace, &[]).exits_with(7);
    assert!(ran.stderr.contains("passes with the program and fails"), "{ran}");
    is_as_before(&workspace);
    workspace.write("tests.txt", "cp before copy && mv copy program\n");
    let ran = score(&workspace, &[]).exits_with(7);
    assert!(ran.stderr.contains("the tests replaced `"), "{ran}");
    is_as_before(&workspace);
}

#[test]
fn after_a_kill_the_next_score_puts_the_program_back() {
    let workspace =
        suite("cmp -s program before || { mkfifo gate 2>/dev/null; echo waiting > started; cat gate; }\n");
    workspace.sh("mkfifo started");
    let mut child = workspace
        .command("cairn")
        .args(["score", "./program", "--tests", "tests.txt"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The test says so when the view is in place.
    let mut line = String::new();
    BufReader::new(fs::File::open(workspace.path("started")).unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "waiting\n");
    child.kill().unwrap();
    child.wait().unwrap();
    // Let the orphaned test end.
    drop(fs::OpenOptions::new().write(true).open(workspace.path("gate")).unwrap());
    assert_ne!(fs::read(workspace.path("program")).unwrap(), fs::read(workspace.path("before")).unwrap());
    workspace.write("inputs/five", "5");
    let ran = super::support::score(&workspace, &[]).success();
    assert!(ran.stderr.contains("an earlier command was cut short; `./program` was put back"), "{ran}");
    is_as_before(&workspace);
}
