//! `cairn replay` tells why an input fails, and where. Needs `cargo xtask dist`.

use cairn_testkit::Workspace;
use expect_test::{Expect, expect};
use serde_json::Value;

const LIST: &str = "#include \"list.h\"
#include <stddef.h>
#include <stdlib.h>
static inline void set(struct list *l, int n) { l->value = n; }
struct list *append(struct list *l, int n) { set(l, n); return l; }
int at(int n) { volatile char *a = malloc(4); for (int i = 0; i < 4; i++) a[i] = i; return a[n]; }
";

const MAIN: &str = "#include \"../include/list.h\"
#include <stdio.h>
#include <stdlib.h>
int at(int);
int main(void) {
  int c = getchar();
  if (c == 'n') return append(0, c)->value;
  if (c == 'a') abort();
  if (c == 'l') for (volatile int n = c;; n++) ;
  if (c == 'h') return at(4) == 77;
  return 0;
}
";

/// A project of two folders, built elsewhere, stripped.
fn project() -> Workspace {
    let workspace = Workspace::new();
    workspace
        .write("include/list.h", "struct list { int value; };\nstruct list *append(struct list *, int);\n");
    workspace.write("src/list.c", LIST);
    workspace.write("src/main.c", MAIN);
    workspace.write("Makefile", "prog:\n\tcairn-cc -O2 -s -Iinclude src/main.c src/list.c -o prog\n");
    // So long that a busy machine does not make a hang of a crash.
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 20000\n");
    workspace.run("make", [] as [&str; 0]).success();
    workspace
}

/// The lines of a report that tell of the failure.
fn told(workspace: &Workspace, input: &str, more: &[&str]) -> String {
    workspace.write("input", input);
    let mut arguments = vec!["replay", "./prog", "input"];
    arguments.extend(more);
    let ran = workspace.run("cairn", arguments);
    let lines = ran.stdout.lines().skip_while(|line| !line.starts_with("  outcome"));
    let told: Vec<&str> = lines
        .take_while(|line| !line.starts_with("  covered"))
        .filter(|line| !line.starts_with("  stderr"))
        // Expectations are text without an indentation of their own.
        .map(|line| &line[2..])
        .collect();
    told.join("\n") + "\n"
}

fn check(input: &str, more: &[&str], expected: Expect) {
    expected.assert_eq(&told(&project(), input, more));
}

#[test]
fn a_crash_is_told_by_functions_and_lines_also_of_a_stripped_program() {
    check(
        "n",
        &[],
        expect![[r#"
              outcome    dies of SIGSEGV
              failure    null dereference
              at         set at src/list.c:4
                         append at src/list.c:5
                         main at src/main.c:7
        "#]],
    );
}

#[test]
fn an_abort_and_a_hang_are_told_too() {
    check(
        "a",
        &[],
        expect![[r#"
              outcome    dies of SIGABRT
              failure    abort
              at         main at src/main.c:8
        "#]],
    );
    let workspace = project();
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 2000\n");
    expect![[r#"
          outcome    hangs: it ran into the wall limit
          failure    hang
          at         main at src/main.c:9
          hint       the limit is 2000 ms; raise `run.wall_limit_ms` if it only needs longer
    "#]]
    .assert_eq(&told(&workspace, "l", &[]));
}

#[test]
fn an_input_on_which_nothing_fails_is_told_nothing_about() {
    check(
        "x",
        &[],
        expect![[r#"
              outcome    exits with 0
        "#]],
    );
}

#[test]
fn sanitizers_tell_what_the_bare_build_does_not_notice() {
    let workspace = project();
    expect![[r#"
          outcome    exits with 0
    "#]]
    .assert_eq(&told(&workspace, "h", &[]));
    expect![[r#"
          outcome    exits with 0
          sanitized  AddressSanitizer: heap-buffer-overflow
          at         at at src/list.c:6
                     main at src/main.c:10
    "#]]
    .assert_eq(&told(&workspace, "h", &["--sanitize", "address,undefined"]));
    expect![[r#"
          outcome    exits with 0
          sanitized  exits with 0
    "#]]
    .assert_eq(&told(&workspace, "x", &["--sanitize", "address"]));
    let ran = workspace.run("cairn", ["replay", "./prog", "input", "--sanitize", "thread"]);
    assert!(ran.stderr.contains("is not a sanitizer"), "{ran}");
    workspace.write("src/list.c", "int at(int n) { return n; }\n");
    let ran = workspace.run("cairn", ["replay", "./prog", "input", "--sanitize", "undefined"]);
    assert!(ran.stderr.contains("list.c` has changed"), "{ran}");
}

#[test]
fn a_harness_is_told_by_its_own_functions_only() {
    let workspace = Workspace::new();
    workspace.write(
        "harness.cc",
        "#include <cstddef>\n#include <stdexcept>\nnamespace app { void parse(const unsigned char *d, size_t n) {\n  \
         if (n > 2) throw std::runtime_error(\"too long\");\n} }\n\
         extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { app::parse(d, n); return 0; }\n",
    );
    workspace.run("cairn-c++", ["-fsanitize=fuzzer", "harness.cc", "-o", "prog"]).success();
    workspace.write("input", "abc");
    let ran = workspace.run("cairn", ["replay", "./prog", "input", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
    assert_eq!(report["failure"]["kind"], "uncaught exception", "{report:#}");
    let functions: Vec<&str> = report["failure"]["stack"]
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| frame["function"].as_str().unwrap())
        .collect();
    assert_eq!(functions, ["app::parse(unsigned char const*, unsigned long)", "LLVMFuzzerTestOneInput"]);
    assert!(report["failure"]["report"].as_str().unwrap().contains("what():  too long"), "{report:#}");
}
