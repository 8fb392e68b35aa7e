//! `cairn experiment` as users meet it, with arms that are shell commands.

use cairn_testkit::{Ran, Workspace};

const PROGRAM: &str = r#"
#include <stdio.h>
int main(void) {
  int c = getchar();
  if (c == 'a')
    puts("a");
  if (c == 'b')
    puts("b");
  return 0;
}
"#;

/// The second of three arms leaves nothing until there is a file `mended`.
const DESCRIPTION: &str = r#"
name = "shells"
repetitions = 2
limit.wall_seconds = 20

[[arm]]
name = "both"
command = ["sh", "-c", "mkdir {out}; printf a > {out}/1; printf b > {out}/2; echo ran >> count"]
inputs = ["{out}"]

[[arm]]
name = "broken"
command = ["sh", "-c", "echo out of order; test -e mended || exit 7; mkdir {out}; printf a > {out}/1"]
inputs = ["{out}"]

[[arm]]
name = "one"
command = ["sh", "-c", "mkdir {out}; printf a > {out}/1; echo ran >> count"]
inputs = ["{out}"]

[[target]]
name = "letters"
seeds = "seeds"
coverage = "coverage"
"#;

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", PROGRAM.trim_start());
    workspace.write("seeds/one", "x");
    workspace.write("shells.toml", DESCRIPTION);
    let words = ["-fprofile-instr-generate", "-fcoverage-mapping", "target.c", "-o", "coverage"];
    workspace.run("clang-19", words).success();
    workspace
}

fn experiment(workspace: &Workspace) -> Ran {
    workspace.run("cairn", ["experiment", "shells.toml", "-o", "results"])
}

#[test]
fn an_arm_that_leaves_nothing_is_told_and_the_others_are_compared() {
    let workspace = workspace();
    let ran = experiment(&workspace).exits_with(4);
    for repetition in 1..=2 {
        let failed = format!(
            "warning: letters, broken, repetition {repetition}: it left no input (exit status: 7); what it printed is in \
             `results/letters/broken/{repetition}/log`"
        );
        assert!(ran.stderr.contains(&failed), "{ran}");
    }
    assert!(ran.stderr.contains("warning: 2 runs left nothing; the same command tries them again"), "{ran}");
    assert_eq!(workspace.read("results/letters/broken/1/log"), "out of order\n");
    let told = "| letters | both against one | 4 : 2 | 1.00 | 0.333 | ahead, perhaps by chance |\n";
    for text in [&ran.stdout, &workspace.read("results/results.md")] {
        assert!(text.contains(told) && text.contains("\n- letters, broken, repetition 2: "), "{text}");
        assert!(!text.contains("| broken |"), "{text}");
    }
    assert_eq!(workspace.read("results/results.csv").lines().count(), 5, "{ran}");
}

#[test]
fn a_run_that_left_nothing_is_made_again_and_no_other() {
    let workspace = workspace();
    experiment(&workspace).exits_with(4);
    workspace.write("mended", "");
    let ran = experiment(&workspace).success();
    assert!(ran.stdout.contains("| letters | both against broken | 4 : 2 |"), "{ran}");
    assert!(!ran.stdout.contains("left no"), "{ran}");
    assert_eq!(workspace.read("count").lines().count(), 4, "the other arms ran twice each, before: {ran}");
}
