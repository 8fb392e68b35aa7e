//! What comments ask for: `cairn: skip`, exactly.

use cairn_testkit::Workspace;
use serde_json::Value;

const PROGRAM: &str = r#"#include <stdio.h>
// cairn: skip
static int left_alone(int n) { return n * 2 + 1; }
static int on_one_line(int n) { return n * 3; } /* cairn: skip */
// cairn: skip-this
static int mutated(int n) {
  n += 3; // cairn: skipped
  n -= 4; // cairn: skip
  return n;
}
int main(void) {
  int n = getchar();
  printf("%d\n", left_alone(n) + on_one_line(n) + mutated(n));
  return 0;
}
"#;

fn built() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("program.c", PROGRAM);
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    workspace
}

#[test]
fn comments_that_are_nearly_right_are_told() {
    let workspace = built();
    for command in ["build", "mutants"] {
        let told = workspace.run("cairn", [command, "./program"]).success().stderr;
        let warnings: Vec<&str> = told.lines().filter(|line| line.starts_with("warning: ")).collect();
        let hint = "asks for nothing; what skips a line is `cairn: skip`";
        assert_eq!(
            warnings,
            [
                format!("warning: program.c:5:1: the comment `// cairn: skip-this` {hint}"),
                format!("warning: program.c:7:11: the comment `// cairn: skipped` {hint}"),
            ],
            "`cairn {command}`"
        );
    }
}

#[test]
fn functions_that_are_skipped_are_told_and_have_no_mutants() {
    let workspace = built();
    let listed = workspace.run("cairn", ["mutants", "./program", "--json"]).success();
    let listed: Value = serde_json::from_str(&listed.stdout).expect("a list is JSON");
    let skipped: Vec<&str> = listed["unmutated"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|function| function["reason"] == "skipped")
        .filter_map(|function| function["function"].as_str())
        .collect();
    assert_eq!(skipped, ["left_alone", "on_one_line"]);
    let lines: std::collections::BTreeSet<u64> = listed["mutants"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|mutant| mutant["line"].as_u64())
        .collect();
    assert!(
        lines.contains(&7) && !lines.contains(&3) && !lines.contains(&4) && !lines.contains(&8),
        "{lines:?}"
    );
    let text = workspace.run("cairn", ["mutants", "./program"]).success().stdout;
    assert!(text.contains("unmutated  2 functions: is skipped, as its comments ask"), "{text}");
}
