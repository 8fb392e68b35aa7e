//! `cairn trace` and `cairn solve` as users meet them.

use cairn_testkit::{Ran, Workspace};
use expect_test::{Expect, expect};
use serde_json::Value;

/// Reads four bytes; the loop looks at each of them.
const PROGRAM: &str = r#"
#include <stdio.h>

int main(void) {
  unsigned char b[4];
  int spaces = 0;
  if (fread(b, 1, sizeof b, stdin) != sizeof b)
    return 1;
  for (int i = 0; i < 4; i++) {
    if (b[i] == ' ')
      spaces++;
  }
  if (b[0] * b[1] == 7 * 257)
    spaces = 100;
  return spaces;
}
"#;

fn program(text: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", text.trim_start());
    workspace.write("start", "abcd");
    workspace.run("cairn-cc", ["target.c", "-o", "program"]).success();
    workspace
}

fn cairn(workspace: &Workspace, arguments: &[&str]) -> Ran {
    workspace.run("cairn", arguments)
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// Compares what was printed, without the margin that all lines have.
fn check(ran: Ran, expected: Expect) {
    let lines: Vec<&str> = ran.stdout.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    expected.assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn a_trace_tells_conditions_in_source_terms() {
    let workspace = program(PROGRAM);
    check(
        cairn(&workspace, &["trace", "./program", "start", "--taint"]).success(),
        expect![[r#"
            input      start (f7462582b2df585fae6590858ffeda15)
            outcome    exits with 0
            path       6 conditions on the input
              target.c:6:7  `fread(b, 1, sizeof b, stdin) != sizeof b`  false  #1  (stdin-stat[0..8] == 4) | (4 <= stdin-stat[0..8])  <- status of stdin[0..8]
              target.c:9:9  `b[i] == ' '`  false  #1  stdin[0] != ' '  <- stdin[0]
              target.c:9:9  `b[i] == ' '`  false  #2  stdin[1] != ' '  <- stdin[1]
              target.c:9:9  `b[i] == ' '`  false  #3  stdin[2] != ' '  <- stdin[2]
              target.c:9:9  `b[i] == ' '`  false  #4  stdin[3] != ' '  <- stdin[3]
              target.c:12:7  `b[0] * b[1] == 7 * 257`  false  #1  (stdin[0] * stdin[1]) != 0x707  <- stdin[0..2]
        "#]],
    );
    let all = json(&cairn(&workspace, &["trace", "./program", "start", "--all", "--json"]).success());
    let events = all["events"].as_array().unwrap();
    let loops = events.iter().filter(|event| event["text"] == "i < 4").count();
    assert_eq!((loops, &all["whole"], &all["n_disagreements"]), (5, &Value::Bool(true), &Value::from(0)));
}

#[test]
fn a_branch_is_decided_otherwise_and_written_as_raw_bytes() {
    let workspace = program(PROGRAM);
    let arguments =
        ["solve", "./program", "start", "--branch", "target.c:9:true", "--occurrence", "3", "-o", "new"];
    let solve = cairn(&workspace, &arguments).success();
    assert!(solve.stdout.contains("stdin: \"ab d\""), "{solve}");
    assert!(solve.stdout.contains("exits with 1"), "{solve}");
    let written = std::fs::read_dir(workspace.path("new")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read(written).unwrap(), b"ab d");
}

#[test]
fn a_branch_may_depend_on_the_new_input_no_longer() {
    // A buffer that is filled says nothing of the size of the file, so that the new run does not note what it decides by it.
    let text = r#"
#include <stdio.h>

int main(void) {
  static char b[1000];
  if (fread(b, 1, sizeof b, stdin) == sizeof b)
    return 1;
  return 0;
}
"#;
    let workspace = program(text);
    let ran = cairn(&workspace, &["solve", "./program", "start", "--branch", "target.c:5", "--json"]);
    let report = json(&ran.success());
    assert_eq!(report["found"][0]["outcome"]["ending"]["code"], 1, "{report}");
}

#[test]
fn all_occurrences_have_an_input_each() {
    let workspace = program(PROGRAM);
    let arguments =
        ["solve", "./program", "start", "--branch", "target.c:9:9", "--occurrence", "all", "--json"];
    let report = json(&cairn(&workspace, &arguments).success());
    let inputs: Vec<&str> = report["found"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| found["input"]["stdin"].as_str().unwrap())
        .collect();
    assert_eq!(inputs, [" bcd", "a cd", "ab d", "abc "]);
    assert!(report["found"].as_array().unwrap().iter().all(|found| found["run"] == "flipped"));
}

#[test]
fn what_cannot_be_is_told_with_an_exit_code_of_its_own() {
    let workspace = program(PROGRAM);
    // Both factors are prime, and one is more than a byte can hold.
    let solve =
        cairn(&workspace, &["solve", "./program", "start", "--branch", "target.c:12:true"]).exits_with(8);
    assert!(solve.stdout.contains("no input takes the same way and decides otherwise here"), "{solve}");
    workspace.write("short", "abc");
    let solve = cairn(&workspace, &["solve", "./program", "short", "--branch", "target.c:12:true"]);
    assert!(solve.exits_with(8).stdout.contains("no condition on the way of this input decides it"));
}

#[test]
fn a_crash_that_was_found_is_a_finding() {
    let text = "#include <stdlib.h>\n#include <stdio.h>\nint main(void) {\n  if (getchar() == 'x')\n    abort();\n}\n";
    let workspace = program(text);
    let solve = cairn(&workspace, &["solve", "./program", "start", "--line", "target.c:5"]).exits_with(3);
    assert!(solve.stdout.contains("dies of SIGABRT"), "{solve}");
}

#[test]
fn wrong_names_are_refused_with_a_hint() {
    let workspace = program(PROGRAM);
    let check = |arguments: &[&str], expected: &str| {
        let ran = cairn(&workspace, &[&["solve", "./program", "start"], arguments].concat()).exits_with(2);
        assert!(ran.stderr.contains(expected), "{ran}");
    };
    check(&["--branch", "target.c:1"], "there is no condition `target.c:1`");
    check(&["--line", "target.c:1"], "there is no code in line 1");
    check(&["--line", "nowhere.c:1"], "the program has no file `nowhere.c`");
    check(&["--site", "0000000000000000", "--value", "1"], "there is no site");
    check(&["--branch", "target.c:9", "--occurrence", "0"], "`0` is no occurrence");
    check(&[], "--branch");
}

#[test]
fn a_thread_cuts_the_trace_and_is_named() {
    let text = r#"
#include <pthread.h>
#include <stdio.h>

static void *nothing(void *argument) { return argument; }

int main(void) {
  pthread_t thread;
  if (getchar() == 'x')
    return 1;
  if (pthread_create(&thread, NULL, nothing, NULL) != 0)
    return 2;
  pthread_join(thread, NULL);
  return getchar() == 'y';
}
"#;
    let workspace = program(text);
    let trace = cairn(&workspace, &["trace", "./program", "start"]).success();
    assert!(trace.stderr.contains("the program started a thread"), "{trace}");
    assert!(trace.stdout.contains("path       1 condition on the input\n"), "{trace}");
}

#[test]
fn what_other_kinds_of_files_could_do_is_not_called_impossible() {
    let workspace = program(
        r#"
#include <sys/stat.h>

int main(int argc, char **argv) {
  struct stat status;
  if (argc < 2 || lstat(argv[1], &status) != 0)
    return 1;
  if (S_ISLNK(status.st_mode))
    return 2;
  return 0;
}
"#,
    );
    workspace.write("file.json", r#"{"args":["f"],"files":[{"path":"f","kind":{"regular":"aa"}}]}"#);
    let solve = cairn(&workspace, &["solve", "./program", "file.json", "--branch", "target.c:7:true"]);
    assert!(solve.stdout.contains("1 kind of a file"), "{solve}");
    assert!(!solve.stdout.contains("impossible"), "{solve}");
}

#[test]
fn a_number_that_is_read_from_digits_is_spelled_in_one_question() {
    let text = r#"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  char text[24];
  float f = 0;
  if (!fgets(text, sizeof text, stdin))
    return 100;
  int found = 0;
  if (strtod(text, NULL) == 3.14159)
    found = 1;
  if (atof(text) * -2 == 1e-9)
    found = 2;
  if (strtof(text, NULL) > 0.1f && strtof(text, NULL) < 0.1000001f)
    found = 3;
  if (sscanf(text, "%f", &f) == 1 && f == 1e20f)
    found = 4;
  return found;
}
"#;
    let workspace = program(text);
    workspace.write("start", "111111111111111");
    for (place, code) in [("10", 1), ("12", 2), ("14:36", 3), ("16:38", 4)] {
        let branch = format!("target.c:{place}:true");
        let solve = cairn(&workspace, &["solve", "./program", "start", "--branch", &branch]).success();
        assert!(solve.stdout.contains(&format!("exits with {code}\n")), "{solve}");
    }
}

#[test]
fn a_line_is_looked_for_no_longer_than_was_asked() {
    // No input comes to the line, and there are more ways than anybody can try.
    let text = r#"
#include <stdio.h>

int main(void) {
  static unsigned char b[200];
  unsigned odd = 0, even = 0;
  size_t length = fread(b, 1, sizeof b, stdin);
  for (size_t i = 0; i < length; i++) {
    if (b[i] * b[i] % 7 == 2)
      odd++;
    if (b[i] % 3 == 1)
      even++;
  }
  if (odd > 300 && even < 2)
    return 1;
  return 0;
}
"#;
    let workspace = program(text);
    let start = std::time::Instant::now();
    let arguments = ["solve", "./program", "start", "--line", "target.c:14", "--runs", "1000000"];
    let arguments = [&arguments[..], &["--for", "2s"]].concat();
    let solve = cairn(&workspace, &arguments);
    assert_eq!(solve.status.code(), Some(8), "{solve}");
    assert!(solve.stdout.contains("ended      its time was up; `--for` gives it more\n"), "{solve}");
    assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
    let report = json(&cairn(&workspace, &[&arguments[..], &["--json"]].concat()));
    assert_eq!(report["stopped"], "its time was up; `--for` gives it more");
}

#[test]
fn a_library_function_may_take_another_way_to_the_branch() {
    let text = r#"
#include <stdio.h>

int main(void) {
  static char text[256];
  double number;
  int hexadecimal;
  fread(text, 1, sizeof text - 1, stdin);
  if (sscanf(text, "%lf,%x", &number, &hexadecimal) == 2)
    return 7;
  return 0;
}
"#;
    let workspace = program(text);
    workspace.write("start", "AAAAAAAAAAAAAAAAAAAAAAAA");
    let solve = cairn(&workspace, &["solve", "./program", "start", "--branch", "target.c:8:true"]).success();
    assert!(solve.stdout.contains("exits with 7\n"), "{solve}");
}

#[test]
fn an_input_that_takes_the_branch_already_is_told_as_that() {
    let workspace = program(PROGRAM);
    let branch = ["solve", "./program", "start", "--branch", "target.c:9:false"];
    let solve = cairn(&workspace, &branch).success();
    assert!(solve.stdout.contains("  note       the given input takes this branch already\n"), "{solve}");
    let solve = cairn(&workspace, &[&branch[..], &["--json"]].concat()).success();
    assert_eq!(json(&solve)["note"], "the given input takes this branch already");
    let solve = cairn(&workspace, &["solve", "./program", "start", "--line", "target.c:12"]).success();
    assert!(solve.stdout.contains("the given input comes to this line already"), "{solve}");
}

#[test]
fn a_branch_on_a_value_that_is_not_followed_is_told_as_that() {
    let text = r#"
#include <regex.h>
#include <stdio.h>

int main(void) {
  static char text[64];
  fread(text, 1, sizeof text - 1, stdin);
  regex_t regex;
  regcomp(&regex, "^ab+c$", 0);
  if (regexec(&regex, text, 0, NULL, 0) == 0)
    return 1;
  return 0;
}
"#;
    let workspace = program(text);
    let solve =
        cairn(&workspace, &["solve", "./program", "start", "--branch", "target.c:9:true"]).exits_with(8);
    assert!(solve.stdout.contains("it depends on a value that is not followed"), "{solve}");
}

#[test]
fn integers_that_are_read_from_digits_are_spelled_in_one_question() {
    let text = r#"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  static char text[256];
  int a = 0;
  fread(text, 1, sizeof text - 1, stdin);
  if (strtol(text, NULL, 10) == LONG_MAX)
    puts("largest");
  if (atoi(text) == INT_MIN)
    puts("smallest");
  if (strtol(text, NULL, 36) == 123456)
    puts("letters");
  if (strtoul(text, NULL, 0) == 0xdeadbeef)
    puts("any base");
  if (sscanf(text, "%d", &a) > 5 || a == -7654321)
    puts("scanned");
  if (atoi(text) * 3 + 1 == 1000000)
    puts("computed");
  if (atoi(text) < -1000000000)
    puts("below");
  return 0;
}
"#;
    let workspace = program(text);
    workspace.write("start", "AAAAAAAAAAAAAAAAAAAAAAAA");
    let branches = ["9", "11", "13", "15", "17:37", "19", "21"];
    let lines = ["largest", "smallest", "letters", "any base", "scanned", "computed", "below"];
    for (place, line) in branches.iter().zip(lines) {
        let branch = format!("target.c:{place}:true");
        let solve = cairn(&workspace, &["solve", "./program", "start", "--branch", &branch, "--json"]);
        let report = json(&solve.success());
        let printed = report["found"][0]["outcome"]["stdout"]["bytes"].as_str().expect("it printed text");
        assert!(printed.contains(line), "{report}");
        assert_eq!(report["n_questions"], 1, "{report}");
    }
}
