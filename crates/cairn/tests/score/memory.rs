//! What was found out once is not run again.

use super::support::{KINDS, fates, json, number, report, score, workspace};

const INPUTS: [(&str, &str); 4] = [("five", "5"), ("ten", "10"), ("thousand", "1000"), ("none", "x")];

#[test]
fn killed_mutants_are_not_run_again() {
    let workspace = workspace(KINDS, &INPUTS);
    let first = report(&workspace, &[]);
    assert!(first["runs"]["made"].as_u64() > Some(0), "{first:#}");
    assert_eq!(first["runs"]["remembered"], 0);
    let second = report(&workspace, &[]);
    assert_eq!(second["runs"]["made"], 0, "{:#}", second["runs"]);
    assert!(second["runs"]["remembered"].as_u64() > Some(0));
    assert_eq!(fates(&first), fates(&second));
    assert_eq!(first["score"], second["score"]);
    let fresh = report(&workspace, &["--fresh-results"]);
    assert_eq!(fresh["runs"]["made"], first["runs"]["made"]);
    assert_eq!(fresh["score"], first["score"]);
}

#[test]
fn a_new_input_runs_only_what_survived() {
    let workspace = workspace(KINDS, &INPUTS[..1]);
    report(&workspace, &[]);
    workspace.write("inputs/more", "10");
    let both = report(&workspace, &[]);
    let killed_before =
        |report| fates(report).values().filter(|(_, killers)| *killers == ["inputs/five"]).count() as u64;
    assert!(killed_before(&both) > 0 && both["runs"]["made"].as_u64() > Some(0), "{both:#}");
    assert!(both["runs"]["made"].as_u64().unwrap() <= number(&both, "infected") - killed_before(&both));
}

#[test]
fn other_limits_and_another_oracle_do_not_take_over_results() {
    let workspace = workspace(KINDS, &INPUTS);
    report(&workspace, &[]);
    workspace.write("cairn.toml", "[oracle]\nstdout = false\n");
    let blind = report(&workspace, &[]);
    assert_eq!(blind["runs"]["remembered"], 0);
    assert_eq!(blind["score"]["killed_by"]["output"], serde_json::Value::Null, "{:#}", blind["score"]);
    workspace.write("cairn.toml", "[run]\nwall_limit_ms = 2000\n");
    assert_eq!(report(&workspace, &[])["runs"]["remembered"], 0);
}

#[test]
fn results_made_while_the_original_did_something_else_are_not_taken_over() {
    let workspace = workspace("int main(void) {}", &[("a", "a")]);
    let outside = workspace.path("outside");
    // What is written is decided by a file that is no part of the input; the program's own values are the same.
    let source = format!(
        r#"
#include <stdio.h>
int main(void) {{
  char format[32] = "";
  FILE *file = fopen("{}", "r");
  if (!file || !fgets(format, sizeof format, file)) return 9;
  int sum = getchar() + 7;
  printf(format, sum);
  return 0;
}}
"#,
        outside.display()
    );
    workspace.write("program.c", source);
    workspace.run("cairn-cc", ["-Wno-format-security", "program.c", "-o", "program"]).success();
    let options = ["--line", "program.c:7"];
    workspace.write("outside", "blind\n");
    let blind = report(&workspace, &options);
    assert!(number(&blind, "infected") > 0, "{blind:#}");
    assert_eq!(number(&blind, "killed"), 0, "{:#}", blind["score"]);
    workspace.write("outside", "%d\n");
    let seeing = report(&workspace, &options);
    assert_eq!(seeing["runs"]["remembered"], 0, "{:#}", seeing["runs"]);
    assert_eq!(number(&seeing, "killed"), number(&blind, "infected"), "{:#}", seeing["score"]);
    // And back: that is known.
    workspace.write("outside", "blind\n");
    let again = report(&workspace, &options);
    assert_eq!((&again["score"], &again["runs"]["made"]), (&blind["score"], &serde_json::json!(0)));
}

#[test]
fn a_comparison_that_failed_is_made_again_and_counted() {
    let source = "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", getchar() + 1); return 0; }\n";
    let workspace = workspace(source, &[("a", "a")]);
    let ready = workspace.path("ready");
    workspace
        .write("same", format!("#!/bin/sh\ntest -e {} || exit 9\ncmp -s \"$1\" \"$2\"\n", ready.display()));
    workspace.sh("chmod +x same");
    workspace.write("cairn.toml", "[oracle]\ncompare = [\"./same\", \"{original}\", \"{mutant}\"]\n");
    let ran = score(&workspace, &["--format", "json"]).success();
    let failed = json(&ran);
    let n_failed = failed["runs"]["compare_failed"].as_u64().unwrap();
    assert!(n_failed > 0 && number(&failed, "undecided") == n_failed, "{failed:#}");
    assert!(ran.stderr.contains(&format!("`oracle.compare` failed on {n_failed} run")), "{ran}");
    let text = score(&workspace, &[]).success();
    assert!(
        text.stderr.contains(&format!("`oracle.compare` failed on {n_failed} run")),
        "also later: {text}"
    );
    workspace.write("ready", "");
    let compared = report(&workspace, &[]);
    assert_eq!(number(&compared, "undecided"), 0, "{:#}", compared["score"]);
    assert!(number(&compared, "killed") >= n_failed, "{:#}", compared["score"]);
    assert_eq!(compared["runs"]["compare_failed"], 0);
}

#[test]
fn a_score_that_was_cut_short_is_a_range() {
    let workspace = workspace(KINDS, &INPUTS);
    let stopped = json(&score(&workspace, &["--budget", "0s", "--format", "json"]).success());
    assert!(stopped["score"]["percent_of_all"].is_null() && stopped["score"]["percent_of_reached"].is_null());
    assert_eq!(stopped["score"]["bounds_of_all"], serde_json::json!({ "least": 0.0, "most": 100.0 }));
    let text = score(&workspace, &["--budget", "0s"]).success();
    let n_pending = number(&stopped, "pending");
    assert!(
        text.stdout.contains(&format!("0.0–100.0% of those reached (partial: {n_pending} pending)")),
        "{text}"
    );
    let whole = report(&workspace, &[]);
    let percent = whole["score"]["percent_of_all"].as_f64().unwrap();
    assert_eq!(whole["score"]["bounds_of_all"], serde_json::json!({ "least": percent, "most": percent }));
}

#[test]
fn a_budget_stops_cleanly_and_running_again_goes_on() {
    let workspace = workspace(KINDS, &INPUTS);
    let stopped = json(&score(&workspace, &["--budget", "0s", "--format", "json"]).success());
    assert_eq!(stopped["stopped"], "budget");
    assert!(number(&stopped, "pending") > 0, "{stopped:#}");
    let text = score(&workspace, &["--budget", "0s"]).success();
    assert!(text.stdout.contains("  left       the budget is used up; "), "{text}");
    let whole = report(&workspace, &["--budget", "10m"]);
    assert_eq!((&whole["stopped"], number(&whole, "pending")), (&serde_json::Value::Null, 0));
    assert_eq!(fates(&whole), fates(&report(&workspace, &["--fresh-results"])));
}
