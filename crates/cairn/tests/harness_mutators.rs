//! `cairn run` on harnesses that change their inputs themselves.

use cairn_testkit::{Ran, Workspace};
use std::fs;

/// Builds a fixture and runs a campaign of so many inputs on it.
fn campaign(fixture: &str, options: &[&str], n_inputs: &str) -> (Workspace, Ran) {
    let workspace = Workspace::of_fixture(fixture);
    workspace.run("cairn-cc", ["target.c", "-o", "program"].iter().chain(options)).success();
    let words = ["run", "./program", "inputs", "-o", "out", "--workers", "1", "--inputs", n_inputs];
    let ran = workspace.run("cairn", words).success();
    (workspace, ran)
}

/// Whether the user's own executable says `found` on any input that was kept.
fn is_found(workspace: &Workspace) -> bool {
    let kept = fs::read_dir(workspace.path("out/corpus")).unwrap();
    kept.map(|kept| workspace.run("./program", [kept.unwrap().path()]).success())
        .any(|ran| ran.stdout.contains("found"))
}

#[test]
fn what_only_the_mutator_reaches_is_reached_with_it() {
    let (workspace, ran) = campaign("harness_mutator", &[], "20000");
    assert!(is_found(&workspace), "{ran}");
    assert!(workspace.read("out/events.jsonl").contains("the harness's mutator"), "{ran}");
    assert!(!ran.stderr.contains("fails"), "{ran}");
    let (workspace, ran) = campaign("harness_mutator", &["-DWITHOUT_MUTATOR"], "20000");
    assert!(!is_found(&workspace), "{ran}");
}

#[test]
fn a_mutator_that_crashes_is_told_once_and_the_campaign_goes_on() {
    let (workspace, ran) = campaign("harness_mutator_crash", &[], "20000");
    assert!(is_found(&workspace), "{ran}");
    let told = "the harness's own `LLVMFuzzerCustomMutator` fails: it died of signal 11";
    assert_eq!(ran.stderr.matches(told).count(), 1, "{ran}");
    assert_eq!(fs::read_dir(workspace.path("out/crashes")).unwrap().count(), 0, "{ran}");
}
