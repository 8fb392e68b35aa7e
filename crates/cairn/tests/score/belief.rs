//! What must not become a kill.

use super::support::{KINDS, number, report, score, workspace};
use cairn_testkit::Workspace;

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
        ran.stderr.contains(
            "warning: `inputs/hang` has no say: the original does not come to an end within 300 ms"
        ),
        "{ran}"
    );
    assert!(ran.stderr.contains("raise `run.wall_limit_ms`"), "{ran}");
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
fn a_comparison_that_is_not_given_both_outputs_is_refused() {
    let workspace = workspace(KINDS, &[("five", "5")]);
    workspace.write("cairn.toml", "[oracle]\ncompare = [\"cmp\", \"{mutant}\"]\n");
    let ran = score(&workspace, &[]).exits_with(2);
    assert!(ran.stderr.contains("`cmp` is not given `{original}`"), "{ran}");
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
    assert!(ran.stderr.contains("the score is 0.0–100.0% with "), "{ran}");
    assert!(ran.stderr.contains(" pending, so nothing says that it is 50%"), "{ran}");
}

#[test]
fn a_program_may_compare_outputs_itself_and_its_comparison_is_not_mutated() {
    let source = r#"
#include <stdio.h>
#include <stddef.h>
int cairn_compare(const void *a, size_t na, const void *b, size_t nb) { return na > 1000 + nb; }
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
    let all = super::support::listed(&workspace, &[]);
    let mutants = all["mutants"].as_array().unwrap();
    assert!(mutants.iter().all(|mutant| mutant["function"] == "main"), "{all:#}");
    assert_eq!(all["unmutated"][0]["function"], "cairn_compare", "{all:#}");
    assert_eq!(all["unmutated"][0]["reason"], "comparison", "{all:#}");
}

#[test]
fn a_mutant_that_takes_longer_than_the_original_may_take_is_not_killed_by_the_clock() {
    let source = r#"
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int n_naps = 2;
  for (int i = 0; i < n_naps; i++)
    usleep(600 * 1000);
  puts("awake");
}
"#;
    let workspace = workspace(source, &[("empty", "")]);
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 1600\n");
    // It takes a third nap.
    let report = report(&workspace, &["--line", "program.c:5"]);
    assert!(number(&report, "infected") > 0, "{:#}", report["score"]);
    assert_eq!(number(&report, "killed"), 0, "{:#}", report["score"]);
}

#[test]
fn kills_by_the_clock_say_which_limit_it_was() {
    let source = r#"
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int c = getchar();
  if (c == 'x') pause();
  puts("done");
}
"#;
    let workspace = workspace(source, &[("a", "a")]);
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 300\n");
    let ran = score(&workspace, &["--line", "program.c:6"]).success();
    assert!(ran.stdout.contains(" killed by the clock alone, after 300 ms or more; raise"), "{ran}");
    assert!(ran.stdout.contains("raise `run.wall_limit_ms`"), "{ran}");
}

#[test]
fn a_report_is_written_also_where_there_is_no_score() {
    let workspace = workspace(KINDS, &[("five", "5")]);
    let error = |options: &[&str], exit: i32| {
        let options: Vec<&str> =
            options.iter().copied().chain(["--format", "json", "-o", "out.json"]).collect();
        let _ = std::fs::remove_file(workspace.path("out.json"));
        let ran = score(&workspace, &options).exits_with(exit);
        assert_eq!(ran.stdout, "", "{ran}");
        let report: serde_json::Value = serde_json::from_str(&workspace.read("out.json")).unwrap();
        assert_eq!(report["error"]["exit"], exit, "{report:#}");
        report
    };
    let not_reached = error(&["--function", "unused"], 6);
    let message = not_reached["error"]["message"].as_str().unwrap();
    assert!(message.ends_with(" selected mutants is reached"), "{message}");
    assert!(number(&not_reached, "not_reached") > 0, "what was found out is in it: {not_reached:#}");
    let not_there = error(&["--function", "nobody"], 6);
    assert!(not_there["score"].is_null() && not_there["error"]["hint"].is_string(), "{not_there:#}");
    workspace.write("program.c", "#include <stdlib.h>\nint main(void) { if (rand() >= 0) abort(); }\n");
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    let no_say = error(&[], 7);
    assert_eq!(no_say["inputs"][0]["left_out"], "the original dies of signal 6", "{no_say:#}");
}

#[test]
fn sanitizers_that_the_views_lack_are_told() {
    let workspace = Workspace::new();
    workspace.write("program.c", KINDS);
    workspace.write("inputs/five", "5");
    workspace.run("cairn-cc", ["-fsanitize=undefined", "program.c", "-o", "program"]).success();
    let warning = "warning: the ordinary executable has sanitizers (undefined), the views do not\n";
    for words in [&["build", "./program"][..], &["mutants", "./program"], &["score", "./program", "inputs"]] {
        let ran = workspace.run("cairn", words).success();
        assert_eq!(ran.stderr.matches(warning).count(), 1, "{ran}");
    }
}

#[test]
fn what_the_sandbox_refuses_a_mutant_alone_decides_nothing() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  int c = getchar();
  if (c > 'x' && system("true") != 0) puts("failed");
  if (c > 'y') execl("/bin/echo", "echo", "other", (char *)0);
  puts("end");
}
"#;
    let workspace = workspace(source, &[("a", "a")]);
    for line in ["program.c:7", "program.c:8"] {
        let report = report(&workspace, &["--operator", "negate-conditionals", "--line", line]);
        let reaching = report["mutants"]
            .as_array()
            .unwrap()
            .iter()
            .find(|mutant| mutant["replacement"] == "c <= 'x'" || mutant["replacement"] == "c <= 'y'");
        assert_eq!(reaching.unwrap()["fate"], "undecided", "{report:#}");
    }
    assert!(!score(&workspace, &[]).success().stderr.contains("sandbox"), "the original asks for nothing");
}

#[test]
fn what_the_sandbox_refuses_the_original_is_told() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  if (system("true") != 0) { puts("failed"); return 1; }
  printf("%d\n", getchar() + 1);
}
"#;
    let workspace = workspace(source, &[("a", "a"), ("b", "b")]);
    let ran = score(&workspace, &[]).success();
    let told = ran.stderr.matches("the sandbox refuses the program `execve`").count();
    assert_eq!(told, 1, "{ran}");
}

#[test]
fn a_reader_who_has_seen_enough_changes_no_exit_code() {
    let workspace = workspace(KINDS, &[("1", "1")]);
    for format in ["text", "json"] {
        let command = format!(
            "cairn score ./program inputs --fail-under 99 --format {format} | true; exit ${{PIPESTATUS[0]}}"
        );
        workspace.run("bash", ["-c", &command]).exits_with(5);
    }
}
