//! Campaigns that also keep inputs that kill mutants.

use cairn_testkit::{Ran, Workspace};
use serde_json::Value;
use std::{collections::BTreeSet, fs};

/// A fixture, built.
fn harness(name: &str) -> Workspace {
    let workspace = Workspace::of_fixture(name);
    workspace.run("cairn-cc", ["-O1", "-g", "target.c", "-o", "target"]).success();
    workspace
}

fn run(workspace: &Workspace, folder: &str, more: &[&str]) -> Ran {
    let words = ["run", "./target", "inputs", "-o", folder, "--workers", "1"];
    workspace.run("cairn", words.iter().chain(more))
}

fn events(workspace: &Workspace, folder: &str) -> Vec<Value> {
    let text = workspace.read(format!("{folder}/events.jsonl"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Kills as events tell them, without times.
fn kills(workspace: &Workspace, folder: &str) -> Vec<String> {
    let events = events(workspace, folder);
    let of = |event: &Value| event["kills"].as_array().cloned().unwrap_or_default();
    let killed = events.iter().filter(|event| event["event"] == "killed");
    killed.flat_map(of).map(|kill| kill.as_str().unwrap().to_owned()).collect()
}

fn n_killed(workspace: &Workspace, folder: &str) -> u64 {
    let events = events(workspace, folder);
    events.iter().rev().find_map(|event| event["n_killed"].as_u64()).unwrap()
}

/// Mutants that a score says a corpus kills.
fn scored(workspace: &Workspace, corpus: &str) -> u64 {
    let score = workspace.run("cairn", ["score", "./target", corpus, "--set", "mu2", "--format", "json"]);
    let score: Value = serde_json::from_str(&score.stdout).unwrap();
    score["score"]["killed"].as_u64().unwrap()
}

#[test]
fn a_mutant_that_sorts_other_values_is_killed_by_comparing_and_by_nothing_else() {
    let workspace = harness("mu2_insertion_sort");
    let line = ["--mutants", "all", "--mutant-line", "target.c:10"];
    run(&workspace, "campaign", &[&["--strategy", "mu2", "--inputs", "3000"][..], &line].concat()).success();
    let kills = kills(&workspace, "campaign");
    let swapped: Vec<&String> = kills.iter().filter(|kill| kill.contains("`1` → `0`")).collect();
    assert_eq!(swapped.len(), 1, "{kills:#?}");
    assert!(swapped[0].ends_with("by output"), "{}", swapped[0]);
}

#[test]
fn where_coverage_saturates_at_once_mutants_still_lead_on() {
    let workspace = harness("mu2_saturated");
    run(&workspace, "mu2", &["--strategy", "mu2", "--inputs", "20000"]).success();
    run(&workspace, "fuzz", &["--inputs", "20000"]).success();
    let branches = |folder| {
        let events = events(&workspace, folder);
        events.iter().rev().find_map(|event| event["n_branches"].as_u64()).unwrap()
    };
    assert_eq!(branches("mu2"), branches("fuzz"));
    let (with, without) = (scored(&workspace, "mu2/corpus"), scored(&workspace, "fuzz/corpus"));
    assert!(with > without, "{with} with mutants, {without} without");
    // What the campaign counted is what an independent score says.
    assert_eq!(n_killed(&workspace, "mu2"), with);
}

#[test]
fn the_smallest_set_kills_as_much_as_all_and_says_why() {
    let workspace = harness("mu2_insertion_sort");
    let ran = run(&workspace, "campaign", &["--strategy", "mu2", "--inputs", "4000"]).success();
    assert!(ran.stdout.contains("in `minimal` are as good as all"), "{}", ran.stdout);
    let text = workspace.read("campaign/minimal.json");
    let minimal: Value = serde_json::from_str(&text).unwrap();
    let inputs = minimal["inputs"].as_array().unwrap();
    let n_files = fs::read_dir(workspace.path("campaign/minimal")).unwrap().count();
    assert_eq!(inputs.len(), n_files);
    for input in inputs {
        assert!(workspace.path("campaign").join(input["file"].as_str().unwrap()).exists());
        assert_ne!(input["kept_for"], "");
    }
    let of_input = |input: &Value| input["kills"].as_array().unwrap().len() as u64;
    assert!(inputs.iter().map(of_input).sum::<u64>() > 0);
    let n_all = fs::read_dir(workspace.path("campaign/corpus")).unwrap().count();
    assert!(n_files < n_all, "{n_files} of {n_all}");
    assert_eq!(scored(&workspace, "campaign/minimal"), scored(&workspace, "campaign/corpus"));
    assert_eq!(minimal["kills"].as_u64(), Some(scored(&workspace, "campaign/corpus")));
    let report = workspace.read("campaign/report.html");
    assert!(report.contains("id=\"killed\"") && report.contains("id=\"survivors\""));
    // Programs are told the same.
    let report = workspace.run("cairn", ["report", "campaign", "--json"]).success();
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let mutants = &report["mutants"];
    let n = |field: &str| mutants[field].as_u64().unwrap();
    assert_eq!(n("n_killed"), n_killed(&workspace, "campaign"));
    assert_eq!(n("n_killed") + n("n_survivors"), n("n_mutants"));
    assert_eq!(mutants["survivors"].as_array().unwrap().len() as u64, n("n_survivors"));
    let by_reason = mutants["killed_by"].as_object().unwrap().values();
    assert_eq!(by_reason.map(|n| n.as_u64().unwrap()).sum::<u64>(), n("n_killed"));
    let kills = report["corpus"].as_array().unwrap().iter().filter_map(|kept| kept["kills"].as_array());
    assert_eq!(kills.map(Vec::len).sum::<usize>() as u64, n("n_killed"));
}

#[test]
fn the_same_seed_kills_the_same_and_resume_goes_on_from_there() {
    let workspace = harness("mu2_insertion_sort");
    let more = ["--strategy", "mu2", "--inputs", "1500", "--seed", "5"];
    run(&workspace, "one", &more).success();
    run(&workspace, "two", &more).success();
    assert_eq!(kills(&workspace, "one"), kills(&workspace, "two"));
    let before = n_killed(&workspace, "one");
    assert!(before > 0);
    workspace.run("cairn", ["resume", "one", "--inputs", "1500"]).success();
    let told: BTreeSet<String> = kills(&workspace, "one").into_iter().collect();
    // Nothing is killed twice.
    assert_eq!(told.len(), kills(&workspace, "one").len());
    assert!(n_killed(&workspace, "one") >= before);
}

#[test]
fn filters_lose_nothing_in_the_end() {
    let workspace = harness("mu2_insertion_sort");
    for (folder, filter) in [("weak", "weak"), ("least", "least-run=3")] {
        let more = ["--strategy", "mu2", "--inputs", "2000", "--mutant-filter", filter];
        let ran = run(&workspace, folder, &more).success();
        let corpus = format!("{folder}/corpus");
        let expected = format!("they kill {} mutants", scored(&workspace, &corpus));
        assert!(ran.stdout.contains(&expected), "{expected}: {}", ran.stdout);
    }
}

#[test]
fn what_is_wrong_about_mutants_is_told_before_anything_is_built() {
    let workspace = harness("mu2_saturated");
    for (more, expected) in [
        (&["--mutants", "mu2"][..], "no strategy runs any"),
        (&["--strategy", "mu2", "--mutants", "mu3"], "mu3"),
        (&["--strategy", "mu2", "--mutant-share", "much"], "no share of the work"),
        (&["--strategy", "mu2", "--mutant-filter", "some"], "leaves out no mutants"),
        (&["--strategy", "mu2", "--mutant-line", "target.c:1"], "no mutant is selected"),
        (&["--strategy", "mu3"], "is no strategy"),
    ] {
        let ran = run(&workspace, "campaign", more);
        assert!(ran.stderr.contains(expected), "{more:?}: {}", ran.stderr);
        assert!(!workspace.path("campaign/campaign.db").exists());
    }
}

/// What it prints differs from run to run, but its exit status tells.
const VARYING: &str = r#"
#include <stdio.h>
#include <time.h>
int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%ld\n", now.tv_nsec);
  int first = getchar(), second = getchar();
  if (first < 0 || second < 0)
    return 1;
  return first * 2 > second + 100;
}
"#;

#[test]
fn mutants_of_a_program_whose_output_varies_are_killed_by_what_does_not() {
    let workspace = Workspace::new();
    workspace.write("target.c", VARYING);
    workspace.write("inputs/start", "aa");
    workspace.run("cairn-cc", ["-O1", "-g", "target.c", "-o", "target"]).success();
    run(&workspace, "campaign", &["--strategy", "mu2", "--inputs", "6000"]).success();
    let kills = kills(&workspace, "campaign");
    assert!(kills.iter().any(|kill| kill.contains("first * 2")), "{kills:#?}");
    assert!(kills.iter().all(|kill| !kill.ends_with("by output")), "{kills:#?}");
    assert_eq!(n_killed(&workspace, "campaign"), scored(&workspace, "campaign/corpus"));
}

#[test]
fn seeds_that_reach_the_same_are_kept_for_what_they_kill() {
    let workspace = harness("mu2_saturated");
    let n_seeds = 40u8;
    for seed in 0..n_seeds {
        workspace.write(format!("many/{seed}"), [seed * 6, 255 - seed, seed.wrapping_mul(37), 3 * seed]);
    }
    let words = ["run", "./target", "many", "-o", "campaign", "--workers", "1", "--inputs", "1"];
    workspace.run("cairn", words.iter().chain(&["--strategy", "mu2"])).success();
    assert_eq!(scored(&workspace, "campaign/corpus"), scored(&workspace, "many"));
}
