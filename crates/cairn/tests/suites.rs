//! `cairn export` and `cairn check`: what a program did, and whether it still does.

use cairn_testkit::{Ran, Workspace, dist};
use serde_json::Value;
use std::fs;

/// Says what kind of number stands on standard input.
const KINDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int number = 0;
  if (scanf("%d", &number) != 1) { fprintf(stderr, "%s: no number\n", argv[0]); return 2; }
  puts("kind:");
  if (number < 0) puts("negative");
  else if (number < 10) puts("small");
  else puts("large");
  if (number == 77) { FILE *f = fopen("seen", "w"); fprintf(f, "%d\n", number); fclose(f); }
  if (number == 666) abort();
  if (number == 1234) /* slow */;
  return 0;
}
"#;

const NUMBERS: [(&str, &str); 6] =
    [("five", "5"), ("minus", "-3"), ("many", "1000"), ("seen", "77"), ("none", "x"), ("slow", "1234")];

fn workspace(source: &str, inputs: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("program.c", source);
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    for (name, content) in inputs {
        workspace.write(format!("inputs/{name}"), content);
    }
    workspace
}

fn export(workspace: &Workspace) -> Ran {
    workspace.run("cairn", ["export", "--suite", "suite", "./program", "inputs"]).success()
}

fn check(workspace: &Workspace, options: &[&str]) -> Ran {
    workspace.run("cairn", ["check", "./program", "--suite", "suite"].iter().chain(options))
}

/// Builds another version of the program, with another compiler than ours.
fn rebuild(workspace: &Workspace, source: &str) {
    workspace.write("program.c", source);
    workspace.run("clang-19", ["-O1", "program.c", "-o", "program"]).success();
}

/// Names of tests that changed, from a report.
fn changed(ran: &Ran) -> Vec<String> {
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
    let results = report["results"].as_array().expect("a list").iter();
    let changed = results.filter(|result| result["status"] != "same");
    changed.map(|result| result["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn the_same_build_passes_and_so_does_one_of_another_compiler() {
    let workspace = workspace(KINDS, &NUMBERS);
    let ran = export(&workspace);
    assert!(ran.stdout.contains("suite      suite: 6 tests of ./program"), "{ran}");
    assert!(ran.stdout.contains("endings    5 exits with 0, 1 exits with 2"), "{ran}");
    let ran = check(&workspace, &[]).success();
    assert!(ran.stdout.contains("  same       6 of 6"), "{ran}");
    rebuild(&workspace, KINDS);
    check(&workspace, &[]).success();
    // The folder of inputs is one like any other.
    assert_eq!(workspace.read("suite/inputs/five.json"), "{\n  \"stdin\": \"5\"\n}\n");
    let expected: Value = serde_json::from_str(&workspace.read("suite/expected/seen.json")).unwrap();
    assert_eq!(expected["stdout"], "kind:\nlarge\n");
    assert_eq!(expected["files"]["seen"]["written"]["content"]["bytes"], "77\n");
}

#[test]
fn changed_behaviour_is_shown_for_exactly_the_inputs_that_meet_it() {
    let workspace = workspace(KINDS, &NUMBERS);
    export(&workspace);
    rebuild(&workspace, &KINDS.replace("number < 10", "number <= -5").replace("\"%d\\n\"", "\"<%d>\\n\""));
    let ran = check(&workspace, &["--junit", "junit.xml"]).exits_with(9);
    assert!(ran.stdout.contains("  same       4 of 6\n  changed    2 of 6\n"), "{ran}");
    assert!(
        ran.stdout.contains(
            "changed: five\n  stdin: \"5\"\n  stdout:\n    line 2\n    - small\n    + large\n  reproduce: "
        ),
        "{ran}"
    );
    assert!(ran.stdout.contains("  file seen:\n    line 1\n    - 77\n    + <77>\n"), "{ran}");
    assert_eq!(changed(&check(&workspace, &["--json"])), ["five", "seen"]);
    let junit = workspace.read("junit.xml");
    assert!(junit.contains("<testsuite name=\"program\" tests=\"6\" failures=\"2\""), "{junit}");
    assert!(junit.contains("<failure message=\"changed: stdout\">"), "{junit}");
    assert!(junit.contains("+ &lt;77&gt;"), "{junit}");
    // The command that is printed shows the new behaviour without us.
    let reproduce =
        ran.stdout.lines().find_map(|line| line.strip_prefix("  reproduce: ")).expect("a command");
    assert_eq!(workspace.sh(reproduce).success().stdout, "kind:\nlarge\n");
}

/// Says the number and when; what comes after `at` does not count.
const WHEN: &str = r#"
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifndef WORD
#define WORD "number"
#endif
static size_t before(const char *text, size_t n) {
  const char *at = memchr(text, '@', n);
  return at ? at - text : n;
}
int cairn_compare(const void *a, size_t na, const void *b, size_t nb) {
  return before(a, na) != before(b, nb) || memcmp(a, b, before(a, na));
}
int main(void) {
  int number = 0;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (scanf("%d", &number) != 1) return 2;
  printf(WORD " %d @%ld%09ld\n", number, now.tv_sec, now.tv_nsec);
  return 0;
}
"#;

#[test]
fn the_program_itself_says_what_is_the_same() {
    let workspace = workspace(WHEN, &[("five", "5"), ("many", "1000"), ("none", "x")]);
    workspace.write("cairn.toml", "[oracle]\ncompare = \"cairn_compare\"\n");
    let ran = export(&workspace);
    assert!(!ran.stdout.contains("unstable"), "what differs means the same: {ran}");
    assert!(workspace.read("suite/suite.toml").contains("compare = \"cairn_compare\""));
    check(&workspace, &[]).success();
    // Another version, with another word, and another idea of what is the same.
    workspace.run("cairn-cc", ["-DWORD=\"Number\"", "program.c", "-o", "program"]).success();
    let ran = check(&workspace, &["--json"]).exits_with(9);
    assert_eq!(changed(&ran), ["five", "many"], "{ran}");
    workspace.write("program.c", WHEN.replace("|| memcmp(a, b, before(a, na))", ""));
    workspace.run("cairn-cc", ["-DWORD=\"Number\"", "program.c", "-o", "program"]).success();
    check(&workspace, &[]).success();
    // A build that nobody can ask is refused, rather than compared in another way.
    rebuild(&workspace, WHEN);
    let ran = check(&workspace, &[]).exits_with(2);
    assert!(ran.stderr.contains("compared by `cairn_compare`, which cannot be asked: no bitcode"), "{ran}");
    assert!(ran.stderr.contains("hint: build `./program` with `cairn-cc`"), "{ran}");
}

#[test]
fn a_crash_that_is_new_is_named() {
    let workspace = workspace(KINDS, &NUMBERS);
    export(&workspace);
    rebuild(&workspace, &KINDS.replace("return 2;", "*(volatile int *)0 = 1; return 2;"));
    let ran = check(&workspace, &[]).exits_with(9);
    assert!(
        ran.stdout.contains("changed: none\n  stdin: \"x\"\n  ending: exits with 2, now dies of SIGSEGV\n"),
        "{ran}"
    );
    assert_eq!(changed(&check(&workspace, &["--json"])), ["none"]);
}

#[test]
fn a_crash_that_was_there_is_expected_until_it_is_mended() {
    let workspace = workspace(KINDS, &[("five", "5"), ("evil", "666")]);
    export(&workspace);
    check(&workspace, &[]).success();
    rebuild(&workspace, &KINDS.replace("abort();", ";"));
    let ran = check(&workspace, &[]).exits_with(9);
    assert!(ran.stdout.contains("ending: dies of SIGABRT, now exits with 0"), "{ran}");
}

#[test]
fn what_changed_can_be_taken_for_right() {
    let workspace = workspace(KINDS, &NUMBERS);
    export(&workspace);
    rebuild(&workspace, &KINDS.replace("negative", "below zero"));
    let ran = check(&workspace, &["--update"]).success();
    assert!(ran.stdout.contains("updated    1 of 6") && ran.stdout.contains("updated: minus"), "{ran}");
    check(&workspace, &[]).success();
    let expected: Value = serde_json::from_str(&workspace.read("suite/expected/minus.json")).unwrap();
    assert_eq!(expected["stdout"], "kind:\nbelow zero\n");
}

#[test]
fn a_test_that_hangs_is_a_change_and_not_the_end() {
    let workspace = workspace(KINDS, &NUMBERS);
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 200\n");
    export(&workspace);
    rebuild(&workspace, &KINDS.replace("/* slow */;", "for (;;) sleep(1);"));
    let ran = check(&workspace, &[]).exits_with(9);
    assert!(
        ran.stdout.contains("changed: slow\n  stdin: \"1234\"\n  ending: exits with 0, now hangs"),
        "{ran}"
    );
    assert!(ran.stdout.contains("  same       5 of 6"), "{ran}");
}

#[test]
fn what_differs_from_run_to_run_is_not_compared_and_that_is_said() {
    let source = r#"
#include <stdio.h>
#include <sys/random.h>
int main(void) {
  unsigned long number = 0;
  int c = getchar();
  if (c == 'r') { getrandom(&number, sizeof number, 0); printf("%lx\n", number); }
  puts("end");
  return c == 'r' ? 3 : 0;
}
"#;
    let workspace = workspace(source, &[("random", "r"), ("plain", "p")]);
    let ran = export(&workspace);
    assert!(ran.stdout.contains("unstable   stdout of 1 test: not compared"), "{ran}");
    check(&workspace, &[]).success();
    let expected: Value = serde_json::from_str(&workspace.read("suite/expected/random.json")).unwrap();
    assert_eq!((&expected["stdout"], &expected["unstable"][0]), (&Value::Null, &Value::from("stdout")));
    // The rest of it still counts.
    rebuild(&workspace, &source.replace("? 3", "? 4"));
    assert_eq!(changed(&check(&workspace, &["--json"]).exits_with(9)), ["random"]);
}

#[test]
fn the_oracle_of_the_suite_decides_wherever_it_is_checked() {
    let workspace = workspace(KINDS, &NUMBERS);
    workspace.write("cairn.toml", "[oracle]\nstdout = false\nstderr = true\n");
    export(&workspace);
    fs::remove_file(workspace.path("cairn.toml")).unwrap();
    rebuild(&workspace, &KINDS.replace("large", "huge").replace("no number", "not a number"));
    let ran = check(&workspace, &[]).exits_with(9);
    assert!(ran.stdout.contains("changed    1 of 6"), "{ran}");
    // The program is told its own name wherever it lies.
    assert!(ran.stdout.contains("    - program: no number\n    + program: not a number\n"), "{ran}");
}

#[test]
fn a_users_own_comparison_is_asked() {
    let workspace = workspace(KINDS, &NUMBERS);
    // Case does not matter.
    workspace.write("same", "#!/bin/sh\ntest \"$(tr A-Z a-z < \"$1\")\" = \"$(tr A-Z a-z < \"$2\")\"\n");
    workspace.sh("chmod +x same");
    workspace.write("cairn.toml", "[oracle]\ncompare = [\"./same\", \"{original}\", \"{mutant}\"]\n");
    export(&workspace);
    rebuild(&workspace, &KINDS.replace("\"large\"", "\"LARGE\"").replace("\"small\"", "\"tiny\""));
    assert_eq!(changed(&check(&workspace, &["--json"]).exits_with(9)), ["five"]);
}

#[test]
fn harnesses_are_checked_with_the_delivery_archive() {
    let source = r#"
#include <cairn.h>
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1 && data[0] == 'a') cairn_output(data + 1, size - 1);
  return 0;
}
"#;
    let workspace = workspace(source, &[("abc", "abc"), ("xyz", "xyz")]);
    export(&workspace);
    check(&workspace, &[]).success();
    let include = format!("-I{}", dist().include().display());
    let archive = dist().delivery_archive().display().to_string();
    let build = |source: &str, rest: &[&str]| {
        workspace.write("program.c", source);
        let words = [include.as_str(), "program.c", "-o", "program"];
        workspace.run("clang-19", words.iter().chain(rest)).success();
    };
    build(source, &[&archive]);
    check(&workspace, &[]).success();
    build(&source.replace("data + 1, size - 1", "data, size"), &[&archive]);
    let ran = check(&workspace, &[]).exits_with(9);
    assert!(ran.stdout.contains("changed: abc") && ran.stdout.contains("harness output"), "{ran}");
    // A program that knows nothing of us never sees the buffer.
    let deaf = "int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return 0; }\nint main(void) { return 0; }";
    build(deaf, &[]);
    let ran = check(&workspace, &[]).exits_with(4);
    assert!(ran.stderr.contains("does not ask for the typed variables or buffers"), "{ran}");
}

#[test]
fn typed_variables_arrive_in_any_build_that_asks_for_them() {
    let source =
        "#include <cairn.h>\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", cairn_int(\"n\") + 1); }";
    let workspace = workspace(source, &[]);
    workspace.write("inputs/seven.json", r#"{"variables": [{"name": "n", "value": {"int": 7}}]}"#);
    export(&workspace);
    let expected: Value = serde_json::from_str(&workspace.read("suite/expected/seven.json")).unwrap();
    assert_eq!(expected["stdout"], "8\n");
    let build = |source: &str| {
        workspace.write("program.c", source);
        workspace.run("cairn-cc", ["-O2", "program.c", "-o", "program"]).success();
    };
    build(&source.replace("+ 1", "- -1"));
    check(&workspace, &[]).success();
    build(&source.replace("+ 1", "+ 2"));
    check(&workspace, &[]).exits_with(9);
    rebuild(&workspace, "#include <stdio.h>\nint main(void) { puts(\"8\"); }");
    let ran = check(&workspace, &[]).exits_with(4);
    assert!(ran.stderr.contains("does not ask for the typed variables or buffers"), "{ran}");
}

#[test]
fn a_suite_may_be_distilled_on_the_way() {
    let workspace = workspace(KINDS, &NUMBERS);
    workspace.write("inputs/five-too", "  5  ");
    let words = ["export", "--suite", "suite", "./program", "inputs", "--distil", "--json"];
    let ran = workspace.run("cairn", words).success();
    let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
    assert!(report["tests"].as_u64() < Some(7), "{report:#}");
    check(&workspace, &[]).success();
    let covered = |folder: &str| {
        let ran = workspace.run("cairn", ["cover", "./program", folder, "--format", "json"]).success();
        serde_json::from_str::<Value>(&ran.stdout).expect("a report")
    };
    assert_eq!(covered("suite/inputs"), covered("inputs"));
}

#[test]
fn a_suite_that_does_not_fit_is_refused_with_what_to_try() {
    let workspace = workspace(KINDS, &NUMBERS);
    let ran = check(&workspace, &[]).exits_with(2);
    assert!(ran.stderr.contains("`suite` is no suite") && ran.stderr.contains("cairn export"), "{ran}");
    export(&workspace);
    let ran = workspace.run("cairn", ["export", "--suite", "suite", "./program", "inputs"]).exits_with(2);
    assert!(ran.stderr.contains("not empty") && ran.stderr.contains("`--force`"), "{ran}");
    workspace.run("cairn", ["export", "--suite", "suite", "./program", "inputs", "--force"]).success();

    fs::copy(workspace.path("program"), workspace.path("other")).unwrap();
    let words = ["check", "./other", "--suite", "suite"];
    let ran = workspace.run("cairn", words).exits_with(2);
    assert!(ran.stderr.contains("was made for `program`, not for `other`"), "{ran}");
    workspace.run("cairn", words.iter().chain(&["--as", "program"])).success();
    let ran =
        workspace.run("cairn", ["check", "./absent", "--as", "program", "--suite", "suite"]).exits_with(4);
    assert!(ran.stderr.contains("absent"), "{ran}");

    let expected = workspace.path("suite/expected/five.json");
    let text = fs::read_to_string(&expected).unwrap();
    fs::remove_file(&expected).unwrap();
    let ran = check(&workspace, &[]).exits_with(2);
    assert!(ran.stderr.contains("the suite lacks `suite/expected/five.json`"), "{ran}");
    fs::write(&expected, "{\"ending\": 7}").unwrap();
    let ran = check(&workspace, &[]).exits_with(2);
    assert!(ran.stderr.contains("`suite/expected/five.json` is wrong"), "{ran}");
    fs::write(&expected, text).unwrap();
    check(&workspace, &[]).success();

    let manifest = workspace.read("suite/suite.toml");
    workspace.write("suite/suite.toml", manifest.replace("format = 1", "format = 9"));
    let ran = check(&workspace, &[]).exits_with(2);
    assert!(ran.stderr.contains("has format 9, this build reads 1"), "{ran}");
}
