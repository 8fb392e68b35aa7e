//! What must not become a kill.

use super::support::{KINDS, number, report, score, workspace};

#[test]
fn an_input_on_which_the_original_fails_has_no_say_and_is_named() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int c = getchar();
  if (c == 'c') abort();
  while (c == 'h') ;
  printf("%d\n", c + 1);
}
"#;
    let workspace = workspace(source, &[("crash", "c"), ("fine", "a"), ("hang", "h")]);
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 300\n");
    let ran = score(&workspace, &["--format", "json"]).success();
    assert!(
        ran.stderr.contains("warning: `inputs/crash` has no say: the original dies of signal 6"),
        "{ran}"
    );
    assert!(
        ran.stderr.contains("warning: `inputs/hang` has no say: the original does not come to an end"),
        "{ran}"
    );
    let report = super::support::json(&ran);
    assert!(report["inputs"][0]["left_out"].is_string() && report["inputs"][1]["left_out"].is_null());
    assert_eq!(report["inputs"][0]["killed"], 0);
    assert!(number(&report, "killed") > 0, "{report:#}");
    std::fs::remove_file(workspace.path("inputs/fine")).unwrap();
    let ran = score(&workspace, &[]).exits_with(7);
    assert!(ran.stderr.contains("error: no score: no input has a say"), "{ran}");
}

#[test]
fn output_that_differs_from_run_to_run_kills_nobody() {
    let source = r#"
#include <stdio.h>
#include <time.h>
int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int c = getchar();
  printf("%ld %d\n", now.tv_nsec, c + 1);
  return c == 'x';
}
"#;
    let workspace = workspace(source, &[("x", "x")]);
    let ran = score(&workspace, &["--format", "json"]).success();
    assert!(ran.stderr.contains("`inputs/x`: stdout differ from run to run and were not looked at"), "{ran}");
    let report = super::support::json(&ran);
    assert_eq!(report["score"]["killed_by"]["output"], serde_json::Value::Null, "{:#}", report["score"]);
    assert!(report["score"]["killed_by"]["exit"].as_u64() > Some(0), "{:#}", report["score"]);
}

#[test]
fn a_view_that_differs_from_the_bare_build_gives_no_score() {
    let source = r#"
#include <stdio.h>
#include <sys/stat.h>
int main(void) {
  struct stat self;
  if (stat("/proc/self/exe", &self) != 0) return 3;
  printf("%ld\n", (long)self.st_size);
}
"#;
    let ran = score(&workspace(source, &[("empty", "")]), &[]).exits_with(7);
    assert!(ran.stderr.contains("on `inputs/empty`, the mutant view without a mutant differs"), "{ran}");
    assert!(ran.stderr.contains("stdout is \""), "the difference is shown: {ran}");
}

#[test]
fn a_comparison_decides_what_differs_and_one_that_fails_decides_nothing() {
    let source = r#"
#include <stdio.h>
int main(void) {
  int c = getchar();
  printf("noise %d\nresult %d\n", c + 7, c == 'a');
}
"#;
    let workspace = workspace(source, &[("a", "a")]);
    let all = report(&workspace, &[]);
    let compare = |script: &str| {
        workspace.write("same", format!("#!/bin/sh\n{script}\n"));
        workspace.sh("chmod +x same");
        workspace.write("cairn.toml", "[oracle]\ncompare = [\"./same\", \"{original}\", \"{mutant}\"]\n");
    };
    compare("test \"$(grep result \"$1\")\" = \"$(grep result \"$2\")\"");
    let results = report(&workspace, &[]);
    assert!(number(&results, "killed") > 0, "{:#}", results["score"]);
    assert!(number(&results, "killed") < number(&all, "killed"), "{:#}", results["score"]);
    compare("exit 9");
    let ran = score(&workspace, &["--format", "json"]).success();
    assert!(ran.stderr.contains("`oracle.compare` failed on "), "{ran}");
    assert!(ran.stderr.contains("the comparison ended with status 9"), "{ran}");
    let failed = super::support::json(&ran);
    assert_eq!(failed["score"]["killed_by"]["output"], serde_json::Value::Null, "{:#}", failed["score"]);
    assert!(number(&failed, "undecided") > 0, "{:#}", failed["score"]);
}

#[test]
fn mutants_in_code_nobody_executes_give_no_score() {
    let workspace = workspace(KINDS, &[("five", "5")]);
    let ran = score(&workspace, &["--function", "unused"]).exits_with(6);
    assert!(ran.stderr.contains("selected mutants is reached"), "{ran}");
}

#[test]
fn long_loops_without_calls_do_not_use_up_the_fuel_of_mutants() {
    let source = r#"
#include <stdio.h>
static unsigned char bytes[2048];
static unsigned checksum(const unsigned char *p, int n, unsigned seed) {
  unsigned s = seed;
  int flag = n + 1;
  if (flag > 100000) s = 0;
  for (int i = 0; i < n; i++) s = s * 31 + p[i];
  return s;
}
int main(void) {
  unsigned s = 0;
  int c = getchar();
  for (int b = 0; b < 1000; b++) {
    bytes[0] = b + c;
    s = checksum(bytes, 1500, s);
  }
  printf("%u\n", s);
}
"#;
    let workspace = workspace(source, &[("a", "a")]);
    let ran = score(&workspace, &["--line", "program.c:6", "--format", "json"]).success();
    let report = super::support::json(&ran);
    assert!(number(&report, "infected") > 0, "{report:#}");
    assert_eq!(number(&report, "killed"), 0, "{report:#}");
}

#[test]
fn a_threshold_is_not_reached_while_nothing_is_decided() {
    let source = "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", getchar() + 1); }\n";
    let workspace = workspace(source, &[("a", "a")]);
    let ran = score(&workspace, &["--budget", "0s", "--fail-under", "50"]).exits_with(5);
    assert!(ran.stderr.contains("no mutant was decided"), "{ran}");
}

#[test]
fn a_program_may_compare_outputs_itself() {
    let source = r#"
#include <stdio.h>
#include <stddef.h>
int cairn_compare(const void *a, size_t na, const void *b, size_t nb) { return 0; } // cairn: skip
int main(void) {
  printf("%d\n", getchar() + 1);
  return 0;
}
"#;
    let workspace = workspace(source, &[("a", "a")]);
    workspace.write("cairn.toml", "[oracle]\ncompare = \"cairn_compare\"\n");
    let ran = score(&workspace, &["--line", "program.c:6", "--format", "json"]).success();
    let report = super::support::json(&ran);
    assert_eq!(report["score"]["killed_by"]["output"], serde_json::Value::Null, "{:#}", report["score"]);
}
