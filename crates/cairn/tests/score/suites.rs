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

#[test]
fn what_means_nothing_for_tests_is_refused() {
    let workspace = suite("true\n");
    workspace.write("inputs/five", "5");
    let refused = |options: &[&str], problem: &str| {
        let ran = score(&workspace, options).exits_with(2);
        assert!(ran.stderr.contains(problem) && ran.stderr.contains("hint: "), "{ran}");
    };
    refused(&["inputs"], "`--tests` scores tests, and `inputs` is an input");
    refused(&["--jobs", "2"], "tests run one at a time");
    refused(&["--sandbox", "full"], "tests run as they are, without a sandbox");
    refused(&["--", "-v"], "tests, which bring the arguments of the program");
    is_as_before(&workspace);
}

#[test]
fn verdicts_of_tests_are_remembered_until_the_test_changes() {
    let workspace = suite("sh check 5 small\ntest \"$(echo 1000 | ./program)\" = large\n");
    workspace.write("check", "test \"$(echo $1 | ./program)\" = $2\n");
    let report = |options: &[&str]| {
        json(
            &score(&workspace, &[options, &["--full-matrix", "--format", "json", "--jobs", "1"]].concat())
                .success(),
        )
    };
    let first = report(&[]);
    let n_made = first["runs"]["made"].as_u64().unwrap();
    assert!(n_made > 0 && first["runs"]["remembered"] == 0, "{:#}", first["runs"]);
    let second = report(&[]);
    assert_eq!(second["runs"]["made"], 0, "{:#}", second["runs"]);
    assert_eq!(fates(&first), fates(&second));
    let fresh = report(&["--fresh-results"]);
    assert_eq!(
        (fresh["runs"]["made"].as_u64(), fresh["runs"]["remembered"].as_u64()),
        (Some(n_made), Some(0))
    );
    // The same line, and another script.
    workspace.write("check", "echo $1 | ./program > /dev/null; true\n");
    let blind = report(&[]);
    assert!(blind["runs"]["made"].as_u64() > Some(0) && blind["runs"]["remembered"].as_u64() > Some(0));
    let killed_by_check = |report| {
        fates(report).values().any(|(_, killers)| killers.iter().any(|test| test.starts_with("sh check")))
    };
    assert!(killed_by_check(&first) && !killed_by_check(&blind), "{:#}", blind["score"]);
}

/// A test that looks at nothing and does `trouble` the first time that it meets a mutant has its say once more, and kills none.
fn is_given_a_second_chance(trouble: &str) {
    let workspace = suite(&format!(
        "test -z \"$CAIRN_MUTANT\" || test -e met-$CAIRN_MUTANT || {{ touch met-$CAIRN_MUTANT; {trouble}; }}; \
         echo 5 | ./program > /dev/null; true\n",
    ));
    let options = ["--format", "json", "--line", "program.c:8", "--sample", "2"];
    let report = json(&score(&workspace, &options).success());
    assert_eq!(number(&report, "killed"), 0, "{:#}", report["score"]);
    assert_eq!(report["runs"]["not_confirmed"], report["runs"]["made"], "{:#}", report["runs"]);
    assert!(report["runs"]["made"].as_u64() > Some(0));
}

#[test]
fn a_test_that_took_too_long_once_is_run_again_before_that_counts() {
    // As on a busy machine.
    is_given_a_second_chance("sleep 600");
}

#[test]
fn a_test_that_fails_now_and_then_kills_nothing_by_accident() {
    is_given_a_second_chance("exit 1");
}

#[test]
fn a_test_that_fails_after_a_mutant_gives_no_score_and_tells_who_may_have_done_it() {
    let workspace = suite(
        "test ! -e left || exit 1; test -z \"$CAIRN_MUTANT\" || touch left; test \"$(echo 5 | ./program)\" = small\n",
    );
    let ran = score(&workspace, &[]).exits_with(7);
    assert!(ran.stderr.contains("fails without a mutant, after it failed with the mutant"), "{ran}");
    assert!(ran.stderr.contains("this mutant left something behind, or one that ran before it"), "{ran}");
    is_as_before(&workspace);
}

#[test]
fn the_budget_ends_also_tests_that_do_not_end() {
    let workspace = suite("sleep 600\n");
    let report = json(&score(&workspace, &["--format", "json", "--budget", "1s"]).success());
    assert_eq!(report["stopped"], "budget");
    assert_eq!(number(&report, "pending"), number(&report, "selected"), "{:#}", report["score"]);
    is_as_before(&workspace);
}

#[test]
fn a_threshold_is_not_reached_by_leaving_mutants_pending() {
    // The second test does not come to its end with a mutant.
    let workspace = suite(
        "test \"$(echo 5 | ./program)\" = small\n\
         test -z \"$CAIRN_MUTANT\" || sleep 600; sleep 0.2; test \"$(echo 1000 | ./program)\" = large\n",
    );
    let options = ["--format", "json", "--budget", "5s", "--fail-under", "30"];
    let ran = score(&workspace, &options).exits_with(5);
    let report = json(&ran);
    is_as_before(&workspace);
    assert!(number(&report, "killed") > 0 && number(&report, "pending") > 0, "{:#}", report["score"]);
    assert!(ran.stderr.contains(" pending, so nothing says that it is 30%"), "{ran}");
}

#[test]
fn nothing_is_left_of_a_test_that_was_ended_or_failed() {
    // Where the output is wrong, a process stays behind that has left the test's session.
    let workspace = suite(
        "test \"$(echo 5 | ./program)\" = small || { setsid sh -c 'echo $$ >> left; exec sleep 600' & \
         while ! test -s left; do sleep 0.01; done; false; }\n",
    );
    score(&workspace, &["--line", "program.c:8"]).success();
    let left = workspace.read("left");
    assert!(!left.is_empty());
    for pid in left.lines() {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} is alive");
    }
}

#[test]
fn folders_for_what_tests_reach_do_not_outlive_the_next_score() {
    let workspace = suite(
        "test -z \"$CAIRN_REACH\" || test -e once || { touch once; echo waiting > started; cat gate; }; ./program; true\n",
    );
    workspace.sh("mkfifo started gate; mkdir tmp");
    let tmp = workspace.path("tmp");
    let mut child = workspace
        .command("cairn")
        .args(["score", "./program", "--tests", "tests.txt"])
        .env("TMPDIR", &tmp)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(fs::File::open(workspace.path("started")).unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // Let the orphaned test end.
    drop(fs::OpenOptions::new().write(true).open(workspace.path("gate")).unwrap());
    assert_eq!(fs::read_dir(&tmp).unwrap().count(), 0, "nothing is left in the folder for temporary files");
    score(&workspace, &["--line", "program.c:7"]).success();
    let left = workspace.sh("find .cairn -name 'reach-*'").success();
    assert_eq!(left.stdout, "");
    is_as_before(&workspace);
}
