//! Every region of an input reaches the program, in the plain view and on the bare build alike.

use cairn_testkit::Workspace;
use serde_json::Value;

/// Builds `source`, replays `input` given as JSON, checks that view and bare build agree.
fn replay(source: &str, input: &str) -> Value {
    let workspace = Workspace::new();
    workspace.write("program.c", source);
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    workspace.write("input.json", input);
    let ran = workspace.run("cairn", ["replay", "./program", "input.json", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
    assert_eq!(report["view_agrees"], true, "{report:#}");
    assert_eq!(report["stable"], true, "{report:#}");
    report
}

#[track_caller]
fn prints(source: &str, input: &str, expected: &str) {
    let report = replay(source, input);
    assert_eq!(report["outcome"]["stdout"]["bytes"], expected, "{report:#}");
}

#[test]
fn arguments_environment_and_stdin_arrive() {
    prints(
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) { char b[9] = {0}; fgets(b, 9, stdin);\
         printf(\"%d %s %s %s\", c, v[1], getenv(\"COLOR\"), b); }",
        r#"{"args": ["-x y"], "stdin": "in", "environment": [["COLOR", "red"]]}"#,
        "2 -x y red in",
    );
}

#[test]
fn files_with_metadata_folders_and_links_arrive() {
    prints(
        r#"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  struct stat s; char link[20] = {0};
  stat("d/f", &s);
  printf("%o %ld %ld ", s.st_mode & 0777, (long)s.st_size, (long)s.st_mtime);
  readlink("l", link, 19);
  stat("h", &s);
  printf("%s %ld %d", link, (long)s.st_nlink, access("folder", X_OK));
}"#,
        r#"{"files": [
            {"path": "d/f", "kind": {"regular": "abc"}, "mode": 416, "size": 5000, "modified": 77},
            {"path": "l", "kind": {"symlink": "d/f"}},
            {"path": "h", "kind": {"hardlink": "d/f"}},
            {"path": "folder", "kind": "folder"}]}"#,
        "640 5000 77 d/f 2 0",
    );
}

#[test]
fn typed_variables_arrive() {
    prints(
        "#include <cairn.h>\n#include <stdio.h>\nint main(void) { int n = cairn_int(\"n\"); double x = cairn_double(\"x\");\
         printf(\"%d %g\", n, x); }",
        r#"{"variables": [{"name": "n", "value": {"int": -7}}, {"name": "x", "value": {"double": 0.5}}]}"#,
        "-7 0.5",
    );
}

#[test]
fn klee_and_crest_spellings_work() {
    prints(
        "#include <klee/klee.h>\n#include <stdio.h>\nint main(void) { int n; klee_make_symbolic(&n, sizeof n, \"n\");\
         klee_assume(n > 3); printf(\"%d %d\", n, klee_range(0, 9, \"r\")); }",
        r#"{"variables": [{"name": "n", "value": {"int": 5}}, {"name": "r", "value": {"int": 8}}]}"#,
        "5 8",
    );
    prints(
        "#include <crest.h>\n#include <stdio.h>\nint main(void) { int n; CREST_int(n); printf(\"%d\", n); }",
        r#"{"variables": [{"name": "n", "value": {"int": 6}}]}"#,
        "6",
    );
}

#[test]
fn a_false_assumption_has_its_own_outcome() {
    let report = replay(
        "#include <klee/klee.h>\nint main(void) { int n = klee_int(\"n\"); klee_assume(n > 3); return 0; }",
        r#"{"variables": [{"name": "n", "value": {"int": 1}}]}"#,
    );
    assert_eq!(report["outcome"]["ending"]["how"], "assumption-failed", "{report:#}");
}

#[test]
fn a_harness_gets_its_buffer() {
    let source = r#"
#include <cairn.h>
#include <stddef.h>
#include <stdint.h>
static int ready;
int LLVMFuzzerInitialize(int *argc, char ***argv) { ready = 1; return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (ready && size == 3 && data[0] == 'a') cairn_output(data + 1, 2);
  return 0;
}"#;
    let report = replay(source, r#"{"buffer": "abc"}"#);
    assert_eq!(report["outcome"]["harness_output"]["bytes"], "bc", "{report:#}");
    assert_eq!(report["outcome"]["harness_return"], 0, "{report:#}");
    assert_eq!(report["branches_covered"], 3, "{report:#}");
}

#[test]
fn afl_macros_are_understood() {
    prints(
        "#include <stdio.h>\n#include <unistd.h>\n__AFL_FUZZ_INIT();\nint main(void) { __AFL_INIT();\
         unsigned char *b = __AFL_FUZZ_TESTCASE_BUF; while (__AFL_LOOP(1000)) { int n = __AFL_FUZZ_TESTCASE_LEN;\
         printf(\"%d %c\", n, b[0]); } }",
        r#"{"stdin": "xyz"}"#,
        "3 x",
    );
}

#[test]
fn raw_bytes_reach_the_file_that_stands_for_them() {
    let workspace = Workspace::new();
    workspace.write(
        "program.c",
        "#include <stdio.h>\nint main(int c, char **v) { FILE *f = fopen(v[2], \"r\"); printf(\"%s %c\", v[1], getc(f)); }",
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    workspace.write("raw", "Q");
    let ran = workspace.run("cairn", ["replay", "./program", "raw", "--", "-x", "@@"]).success();
    assert!(ran.stdout.contains("stdout     \"-x Q\""), "{ran}");
}

#[test]
fn the_printed_command_reproduces_the_run_without_cairn() {
    let workspace = Workspace::new();
    workspace.write(
        "program.c",
        "#include <cairn.h>\n#include <stdio.h>\nint main(int c, char **v) { char b[9]; FILE *f = fopen(v[1], \"r\");\
         printf(\"%s %s %d\", v[1], fgets(b, 9, f), cairn_int(\"n\")); return 7; }",
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    workspace.write(
        "input.json",
        r#"{"args": ["it's"], "files": [{"path": "it's", "kind": {"regular": "100%"}}],
            "variables": [{"name": "n", "value": {"int": 12}}]}"#,
    );
    let ran = workspace.run("cairn", ["replay", "./program", "input.json", "--json"]).success();
    let report: Value = serde_json::from_str(&ran.stdout).expect("the report is JSON");
    let ran = workspace.sh(report["reproduce"].as_str().expect("a command")).exits_with(7);
    assert_eq!(ran.stdout, "it's 100% 12");
}

#[test]
fn the_path_hash_tells_orders_apart() {
    let workspace = Workspace::new();
    workspace.write(
        "program.c",
        "#include <stdio.h>\nint main(void) { int c, a = 0, b = 0; while ((c = getchar()) != EOF) { if (c == 'a') a++; else b++; } return a + b; }",
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    let hash = |bytes: &str| {
        workspace.write("input", bytes);
        let ran = workspace.run("cairn", ["replay", "./program", "input", "--path-hash", "--json"]);
        let report: Value = serde_json::from_str(&ran.stdout).expect("the report is JSON");
        report["path_hash"].as_str().expect("a hash").to_string()
    };
    assert_eq!(hash("ab"), hash("ab"));
    assert_ne!(hash("ab"), hash("ba"));
}

#[test]
fn only_what_is_beyond_other_inputs_can_be_asked_for() {
    let workspace = Workspace::new();
    workspace.write(
        "program.c",
        "#include <stdio.h>\nint main(void) { int c = getchar(); if (c == 'a') return 1; if (c == 'b') return 2; return 3; }",
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    workspace.write("old", "a");
    workspace.write("new", "b");
    let ran = workspace.run("cairn", ["cover", "./program", "new", "--beyond", "old"]).success();
    assert!(ran.stdout.contains("beyond    2 branches"), "{ran}");
    assert!(ran.stdout.contains("`c == 'a'` false") && ran.stdout.contains("`c == 'b'` true"), "{ran}");
    let ran = workspace.run("cairn", ["cover", "./program", "old", "--beyond", "old"]).success();
    assert!(ran.stdout.contains("beyond    0 branches"), "{ran}");
}

#[test]
fn what_the_sandbox_refused_is_told_with_coverage() {
    let workspace = Workspace::new();
    workspace.write(
        "program.c",
        "#include <unistd.h>\nint main(void) { execl(\"/bin/true\", \"true\", (char *)0); return 0; }",
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    workspace.write("input", "");
    let ran = workspace.run("cairn", ["cover", "./program", "input"]).success();
    assert!(ran.stderr.contains("the sandbox refused `execve` on 1 inputs"), "{ran}");
}

#[test]
fn lcov_numbers_the_branches_of_a_decision() {
    let workspace = Workspace::new();
    workspace.write(
        "program.c",
        "int main(int c, char **v) {\n  if (c > 1 && v[1][0] == 'x')\n    return 1;\n  return 0;\n}\n",
    );
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    workspace.write("input", "");
    let ran = workspace.run("cairn", ["cover", "./program", "input", "--format", "lcov"]).success();
    let branches: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("BRDA")).collect();
    assert_eq!(branches, ["BRDA:2,0,0,0", "BRDA:2,0,1,1", "BRDA:2,0,2,-", "BRDA:2,0,3,-"]);
}

#[test]
fn a_program_finds_its_own_name() {
    prints(
        "#include <stdio.h>\n#include <string.h>\nint main(int c, char **v) { puts(strrchr(v[0], '/') ? strrchr(v[0], '/') + 1 : v[0]); }",
        "{}",
        "program\n",
    );
}
