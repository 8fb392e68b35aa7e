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
