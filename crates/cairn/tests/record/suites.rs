//! Suites of all kinds.

use super::support::{inputs, is_as_before, record, report, suite};
use cairn_testkit::Workspace;
use serde_json::Value;
use std::fs;

#[test]
fn a_suite_that_fails_is_told_and_its_inputs_are_kept() {
    let workspace =
        suite("../program a\n../program !bad || echo ended with $?\n../program !bad\n../program never\n");
    let ran = record(&workspace, &["--json"]).success();
    assert!(ran.stderr.contains("ended with 7\n"), "{ran}");
    assert!(ran.stderr.contains("warning: `sh -e suite.sh` failed (exit status: 7)"), "{ran}");
    let report = report(&ran);
    assert_eq!(report["suite"]["passed"], false);
    assert_eq!((&report["calls"], &report["kept"]), (&3.into(), &2.into()), "{report:#}");
}

#[test]
fn parallel_calls_are_all_kept_and_equal_ones_once() {
    let workspace =
        suite("seq 1 200 | xargs -P8 -I@ sh -c '../program @ same > @.out; ../program same > @.out'\n");
    let ran = record(&workspace, &["--present-files=0", "--json"]).success();
    let report = report(&ran);
    assert_eq!((&report["calls"], &report["kept"]), (&400.into(), &201.into()), "{report:#}");
    assert_eq!(report["unfinished"], 0, "{report:#}");
    assert_eq!(inputs(&workspace).len(), 201);
    for n in 1..=200 {
        assert_eq!(workspace.read(format!("work/{n}.out")), "<same>\n");
    }
}

#[test]
fn a_second_recording_adds_only_what_is_new() {
    let workspace = suite("../program a\n");
    record(&workspace, &[]).success();
    workspace.write("suite.sh", "cd work\n../program a\n../program b\n");
    let ran = record(&workspace, &[]).success();
    assert!(ran.stdout.contains("kept       2 distinct inputs in inputs, 1 of them new"), "{ran}");
}

/// Prints what it inherited: signals, descriptors, limits and variables.
const INHERITOR: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
  printf("%s %d, parent waits: %d, children: %d\n", argv[0], argc, getppid() == atoi(argv[1]), wait(NULL));
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  for (int signal = 1; signal < 65; signal++) {
    struct sigaction action;
    if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN) printf("ignores %d\n", signal);
    if (sigismember(&blocked, signal) == 1) printf("blocks %d\n", signal);
  }
  for (int fd = 0; fd < 64; fd++)
    if (fcntl(fd, F_GETFD) >= 0) printf("has %d\n", fd);
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("opens %ld\n", (long)limit.rlim_cur);
  for (char **variable = environ; *variable; variable++)
    if (getenv("EMPTIED")) puts(*variable);
}
"#;

#[test]
fn signals_limits_and_descriptors_reach_the_program_unchanged() {
    let workspace = suite(
        r#"
        (trap '' PIPE; exec env -i EMPTIED=1 ../program 1)
        (trap '' TERM HUP; exec ../program 2)
        (exec 0<&- 5</dev/null; exec ../program 3)
        (ulimit -f 0; ulimit -n 6; exec ../program 4)
        "#,
    );
    workspace.write("program.c", INHERITOR);
    workspace.run("clang-19", ["program.c", "-o", "program"]).success();
    let alone = workspace.sh("exec sh -e suite.sh").success();
    let ran = record(&workspace, &["--present-files=0", "--json"]).success();
    assert_eq!(ran.stderr, alone.stdout);
    assert_eq!(report(&ran)["calls"], 3, "the last call may write nothing down: {ran}");
}

#[test]
fn scripts_are_recorded_too() {
    let workspace = suite("../program a 'b c'\n../program\n");
    for first_line in ["#!/bin/sh\n", ""] {
        workspace.write("program", format!("{first_line}echo $# \"$2\"\n"));
        let ran = record(&workspace, &["--present-files=0", "--json"]).success();
        assert_eq!(ran.stderr, "2 b c\n0 \n", "{ran}");
        assert_eq!(report(&ran)["kept"], 2, "{ran}");
    }
}

#[test]
fn a_suite_that_never_calls_the_program_is_an_error_with_a_hint() {
    let workspace = suite("echo nothing\n");
    let ran = record(&workspace, &[]).exits_with(2);
    assert!(
        ran.stderr.contains("error: `sh -e suite.sh` never called `./program`, so nothing was recorded"),
        "{ran}"
    );
    assert!(ran.stderr.contains("hint: ") && ran.stderr.contains("--as NAME"), "{ran}");
}

#[test]
fn what_cannot_be_recorded_is_named() {
    let workspace = suite("../program a\n");
    let original = fs::read(workspace.path("program")).unwrap();
    let ran = workspace.run("cairn", ["record", "./program", "--", "./nowhere", "-x"]).exits_with(2);
    assert!(
        ran.stderr.contains("error: failed to start `./nowhere`: ") && ran.stderr.contains("hint: "),
        "{ran}"
    );
    is_as_before(&workspace, &original);
    let ran = workspace.run("cairn", ["record", "./none", "--", "true"]).exits_with(2);
    assert!(ran.stderr.contains("error: failed to read `./none`: "), "{ran}");
    let ran = workspace.run("cairn", ["record", "./suite.sh", "--", "true"]).exits_with(2);
    assert!(ran.stderr.contains("suite.sh` is not an executable file"), "{ran}");
    let ran =
        workspace.run("cairn", ["record", "./program", "--into", "program.c", "--", "true"]).exits_with(2);
    assert!(ran.stderr.contains("error: failed to prepare the folder `program.c`: "), "{ran}");
    is_as_before(&workspace, &original);
}

#[test]
fn a_program_in_the_path_is_recorded_without_being_touched() {
    let workspace = suite("tool a\nenv -u MOOD tool b\n../program unseen\n");
    let before = fs::metadata(workspace.path("program")).unwrap();
    let ran = record(&workspace, &["--as=tool", "--json"]).success();
    assert_eq!(ran.stderr, "<a>\n<b>\n<unseen>\n");
    assert_eq!(report(&ran)["calls"], 2, "{ran}");
    assert_eq!(
        fs::metadata(workspace.path("program")).unwrap().modified().unwrap(),
        before.modified().unwrap()
    );
    workspace.write("suite.sh", "./program a\n");
    let ran = record(&workspace, &["--as=tool"]).exits_with(2);
    assert!(ran.stderr.contains("does not look for `tool` in `PATH`"), "{ran}");
}

#[test]
fn a_recorded_input_replays_to_what_the_suite_saw() {
    let workspace = suite(
        "printf 'one\\n' > in.txt\nprintf 'two\\n' | MOOD=fine ../program in.txt - > ../seen\nrm in.txt\n",
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    let original = fs::read(workspace.path("program")).unwrap();
    record(&workspace, &[]).success();
    is_as_before(&workspace, &original);
    let seen = workspace.read("seen");
    assert_eq!(seen, "mood fine\n<in.txt>\none\ntwo\n");
    assert_eq!(replayed(&workspace), seen);
}

/// What the program writes when the one recorded input is replayed.
fn replayed(workspace: &Workspace) -> Value {
    let ran = workspace.run("cairn", ["replay", "./program", "inputs", "--json"]).success();
    let replay = report(&ran);
    assert_eq!(replay["view_agrees"], true, "{replay:#}");
    replay["outcome"]["stdout"]["bytes"].clone()
}
