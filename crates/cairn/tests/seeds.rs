//! Symbolic seeds: `cairn seeds`, and the strategy `csefuzz`.

use cairn_testkit::{Ran, Workspace, fixture};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const CRITERIA: [&str; 5] = ["none", "decision", "condition", "path", "decision+kills"];

/// A workspace with a fixture built as `program`, and its inputs as `inputs`.
fn built(name: &str) -> Workspace {
    let workspace = Workspace::new();
    let folder = fixture(name);
    fs::copy(folder.join("target.c"), workspace.path("target.c")).unwrap();
    fs::create_dir(workspace.path("inputs")).unwrap();
    for input in fs::read_dir(folder.join("inputs")).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&input, workspace.path("inputs").join(input.file_name().unwrap())).unwrap();
    }
    workspace.run("cairn-cc", ["-g", "target.c", "-o", "program"]).success();
    workspace
}

fn compiled(source: &str) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("target.c", source.trim_start());
    workspace.run("cairn-cc", ["-g", "target.c", "-o", "program"]).success();
    workspace
}

fn seeds(workspace: &Workspace, output: &str, more: &[&str]) -> Ran {
    let words = ["seeds", "./program", "-o", output, "--json"];
    workspace.run("cairn", words.iter().chain(more))
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// What a report says of the seed that covers something first.
fn seed_for<'a>(report: &'a Value, text: &str) -> &'a Value {
    let seeds = report["seeds"].as_array().unwrap();
    let covers = |seed: &&Value| {
        seed["first"].as_array().unwrap().iter().any(|first| first.as_str().unwrap().contains(text))
    };
    seeds.iter().find(covers).unwrap_or_else(|| panic!("nothing covers {text}: {report:#}"))
}

/// Figure 2 of the paper.
#[test]
fn what_a_path_does_not_depend_on_keeps_its_place() {
    let workspace = built("seeds_free_inputs");
    for fill in ["keep", "zero", "random", "text"] {
        let ran = seeds(&workspace, fill, &["inputs", "--fill", fill]).success();
        let report = report(&ran);
        let low = seed_for(&report, "main: y > 100 false");
        assert_eq!(
            low["free"],
            serde_json::json!(["variable x: free", "variable y: fixed", "variable z: free"])
        );
        let other = seed_for(&report, "main: y > 100 true, x > y true");
        assert_eq!(
            other["free"],
            serde_json::json!(["variable x: fixed", "variable y: fixed", "variable z: free"])
        );
        for seed in report["seeds"].as_array().unwrap() {
            let input: Value = serde_json::from_str(&workspace.read(seed["file"].as_str().unwrap())).unwrap();
            let names: Vec<&str> =
                input["variables"].as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
            assert_eq!(names, ["x", "y", "z"]);
        }
        let value = |seed: &Value, place: usize| {
            let input: Value = serde_json::from_str(&workspace.read(seed["file"].as_str().unwrap())).unwrap();
            input["variables"][place]["value"]["int"].as_i64().unwrap()
        };
        assert!(value(low, 1) <= 100 && value(other, 0) > value(other, 1) && value(other, 1) > 100);
        if fill == "zero" {
            assert_eq!((value(low, 0), value(low, 2)), (0, 0));
        }
        if fill == "random" {
            assert_ne!((value(low, 0), value(low, 2)), (0, 0), "seed 1 draws others");
        }
    }
}

/// Figure 3 of the paper.
#[test]
fn a_defect_that_only_symbolic_execution_reaches_is_reported_under_every_criterion() {
    let workspace = built("seeds_hidden_defect");
    for criterion in CRITERIA {
        let ran = seeds(&workspace, criterion, &["inputs", "--criterion", criterion]);
        assert_eq!(ran.status.code(), Some(3), "{ran}");
        let report = report(&ran);
        let [failure] = report["failures"].as_array().unwrap().as_slice() else { panic!("{report:#}") };
        assert_eq!(failure["kind"], "assertion failed");
        let crash = fs::read(workspace.path(failure["file"].as_str().unwrap())).unwrap();
        assert_eq!(crash, 100_276_i32.to_le_bytes());
        // Fuzzers refuse seeds that crash.
        for seed in files(&workspace.path(criterion)) {
            assert_ne!(fs::read(seed).unwrap(), crash);
        }
        assert_eq!(report["ended"], "exhausted");

        let campaign = format!("campaign-{criterion}");
        let words = ["run", "./program", "inputs", "-o", &campaign, "--workers", "1", "--inputs", "400"];
        let ran =
            workspace.run("cairn", words.iter().chain(&["--strategy", "csefuzz", "--criterion", criterion]));
        assert_eq!(ran.status.code(), Some(3), "{ran}");
        assert!(ran.stdout.contains("assertion failed in main at target.c:11"), "{criterion}: {ran}");
    }
}

fn what_all_candidates_cover_a_few_cover(name: &str, n_candidates: &str) {
    let workspace = built(name);
    let all = ["inputs", "--criterion", "none", "--candidates", n_candidates, "--for", "100s"];
    let n_all = report(&seeds(&workspace, "all", &all))["seeds"].as_array().unwrap().len();
    for criterion in &CRITERIA[1..] {
        let chosen = seeds(&workspace, criterion, &["all", "--no-explore", "--criterion", criterion]);
        let chosen = report(&chosen.success());
        let n_seeds = files(&workspace.path(criterion)).len();
        assert_eq!(chosen["candidates"], n_all);
        assert!(n_seeds > 1 && n_seeds < n_all / 4, "{criterion}: {n_seeds} of {n_all}");
        // Measured again from nothing.
        let again = format!("{criterion}-again");
        let again = seeds(&workspace, &again, &[criterion, "--no-explore", "--criterion", criterion]);
        assert_eq!(report(&again.success())["covered"], chosen["covered"], "{criterion}");
        // Each is needed, and the report says for what.
        for seed in chosen["seeds"].as_array().unwrap() {
            assert!(!seed["first"].as_array().unwrap().is_empty(), "{seed:#}");
            assert!(!seed["file"].as_str().unwrap().ends_with(".json"), "other fuzzers read raw bytes");
        }
    }
}

#[test]
fn a_few_seeds_cover_what_all_orders_of_a_red_black_tree_cover() {
    what_all_candidates_cover_a_few_cover("seeds_red_black_tree", "400");
}

#[test]
fn a_few_seeds_cover_what_all_uses_of_a_tree_map_cover() {
    what_all_candidates_cover_a_few_cover("seeds_tree_map", "400");
}

#[test]
fn decisions_count_by_their_outcome_and_conditions_by_their_value() {
    let workspace = compiled(
        r#"
#include <stdio.h>

int main(void) {
  unsigned char b[4] = {0};
  if (fread(b, 1, 4, stdin) != 4)
    return 1;
  if (b[0] == 'a' && b[1] == 'b')
    puts("both");
  int either = b[2] == 'c' || b[3] == 'd';
  switch (b[0] % 3) {
  case 0:
    return either;
  case 1:
    return 2;
  default:
    return 3;
  }
}
"#,
    );
    workspace.write("inputs/start", "zzzz");
    let covered = |criterion: &str| -> BTreeSet<String> {
        let ran = seeds(&workspace, criterion, &["inputs", "--criterion", criterion]).success();
        let report = report(&ran);
        let seeds = report["seeds"].as_array().unwrap();
        let first = |seed: &Value| {
            let texts = seed["first"].as_array().unwrap().iter();
            texts.map(|text| text.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        seeds.iter().flat_map(first).collect()
    };
    let expected = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<BTreeSet<String>>();
    assert_eq!(
        covered("decision"),
        expected(&[
            "target.c:5:7: `fread(b, 1, 4, stdin) != 4` false",
            "target.c:5:7: `fread(b, 1, 4, stdin) != 4` true",
            "target.c:7:7: `b[0] == 'a'` false or `b[1] == 'b'` false",
            "target.c:7:22: `b[1] == 'b'` true",
            "target.c:9:16: `b[2] == 'c'` true or `b[3] == 'd'` true",
            "target.c:9:31: `b[3] == 'd'` false",
            "target.c:11:3: `case 0`",
            "target.c:13:3: `case 1`",
            "target.c:15:3: `default`",
        ])
    );
    let conditions = covered("condition");
    assert!(conditions.contains("target.c:7:7: `b[0] == 'a'` true"), "{conditions:?}");
    // A label that is not taken is a value of its own there.
    assert_eq!(conditions.len(), 5 * 2 + 3 * 2);
}

#[test]
fn it_is_told_which_bytes_are_free_or_in_a_range() {
    let workspace = compiled(
        r#"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *b, size_t size) {
  if (size < 6)
    return 0;
  if (b[0] < '0' || b[0] > '9')
    return 0;
  if (b[1] != 'x')
    return 0;
  if (b[2] + b[3] == 9)
    return 0;
  return 0;
}
"#,
    );
    workspace.write("inputs/start", "5x45..");
    let report = report(&seeds(&workspace, "out", &["inputs", "--criterion", "decision"]).success());
    let seed = seed_for(&report, "`b[2] + b[3] == 9` true");
    assert_eq!(seed["free"], serde_json::json!(["buffer: 2 free, 1 in a range, 3 fixed"]));
    assert_eq!(report["ended"], "exhausted");
}

#[test]
fn a_campaign_begins_fuzzing_and_has_symbolic_seeds_when_that_finds_less_or_begins_with_them() {
    let workspace = built("seeds_tree_map");
    let words = ["run", "./program", "inputs", "--workers", "1", "--inputs", "20000", "--candidates", "300"];
    let run = |folder: &str, more: &[&str]| {
        let strategy = ["--strategy", "csefuzz", "-o", folder];
        let ran = workspace.run("cairn", words.iter().chain(&strategy).chain(more));
        assert_eq!(ran.status.code(), Some(3), "the map has a defect: {ran}");
        let events = workspace.read(format!("{folder}/events.jsonl"));
        let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let is_kept = |event: &&Value| event["event"] == "kept" && event["strategy"] == "csefuzz";
        let reason = |event: &Value| event["made_by"].as_str().unwrap_or_default().to_owned();
        (events.iter().filter(is_kept).map(reason).collect::<Vec<_>>(), events)
    };
    let is_symbolic = |reason: &String| reason.starts_with("a symbolic seed: ");
    for more in [&[][..], &["--candidates-first"]] {
        let folder = |n| format!("{n}-{}", more.len());
        let (reasons, events) = run(&folder("one"), more);
        let n_symbolic = reasons.iter().filter(|reason| is_symbolic(reason)).count();
        assert!(n_symbolic > 2 && n_symbolic < reasons.len(), "{reasons:#?}\n{events:#?}");
        assert_eq!(is_symbolic(&reasons[0]), !more.is_empty(), "{reasons:#?}");
        assert_eq!(run(&folder("two"), more).0, reasons, "the same seed decides the same");
    }
}

#[test]
fn a_campaign_that_goes_on_knows_what_is_free_of_its_seeds() {
    let workspace = built("seeds_tree_map");
    let words = ["run", "./program", "inputs", "--workers", "1", "--inputs", "3000", "--candidates", "100"];
    workspace.run("cairn", words.iter().chain(&["--strategy", "csefuzz", "-o", "campaign"]));
    let n_kept = || {
        let events = workspace.read("campaign/events.jsonl");
        let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let is_seed = |event: &Value| {
            event["made_by"].as_str().is_some_and(|made_by| made_by.starts_with("a symbolic seed"))
        };
        let texts = |event: &Value| event["text"].as_str().map(str::to_owned);
        let (seeds, others): (Vec<Value>, Vec<Value>) = events.partition(is_seed);
        (seeds.len(), others.iter().filter_map(texts).collect::<Vec<_>>())
    };
    let (n_seeds, told) = n_kept();
    assert!(n_seeds > 0 && !told.iter().any(|text| text.contains("found out again")), "{told:?}");
    workspace.run("cairn", ["resume", "campaign", "--inputs", "3000"]);
    let (_, told) = n_kept();
    let again = format!("what is free of {n_seeds} symbolic seeds was found out again");
    assert!(told.contains(&again), "{again}: {told:?}");
}

#[test]
fn the_same_seeds_are_chosen_again() {
    let workspace = built("seeds_red_black_tree");
    let names = |folder: &str| -> BTreeSet<PathBuf> {
        let more = ["inputs", "--candidates", "200", "--pick", "random", "--for", "100s"];
        seeds(&workspace, folder, &more).success();
        files(&workspace.path(folder)).iter().map(|file| file.file_name().unwrap().into()).collect()
    };
    assert_eq!(names("one"), names("two"));
}

#[test]
fn what_makes_no_sense_is_told() {
    let workspace = built("seeds_hidden_defect");
    let refused = |more: &[&str], says: &str| {
        let ran = seeds(&workspace, "out", more);
        assert_eq!(ran.status.code(), Some(2), "{ran}");
        assert!(ran.stderr.contains(says), "{says}: {ran}");
    };
    refused(&["--no-explore"], "no candidates were named");
    refused(&["inputs", "--criterion", "lines"], "`lines` is no criterion; there are `none`, `decision`");
    refused(&["inputs", "--fill", "ones"], "`ones` is no way to fill free places");
    refused(&["inputs", "--pick", "best"], "`best` is no way to pick");
    refused(
        &["inputs", "--fill", "zero", "--criterion", "none"],
        "`--fill` does not go with the criterion `none`",
    );
    refused(&["inputs", "--mutants", "mu2"], "the criterion does not count any");
    refused(&["inputs", "--criterion", "decision+kills", "--mutants", "nothing"], "`nothing`");
    refused(&["nowhere"], "nowhere");
    workspace.write("full/file", "x");
    let ran = seeds(&workspace, "full", &["inputs"]);
    assert_eq!(ran.status.code(), Some(2), "{ran}");
    assert!(ran.stderr.contains("is not empty"), "{ran}");
    let words = ["run", "./program", "inputs", "-o", "campaign", "--inputs", "10", "--criterion", "path"];
    let ran = workspace.run("cairn", words);
    assert!(ran.stderr.contains("no strategy looks for any") && ran.status.code() == Some(2), "{ran}");
}

/// Functions that are not returned from have no basic path.
#[test]
fn a_program_that_ends_in_a_call_of_exit_has_seeds_for_its_conditions() {
    let workspace = compiled(
        r#"
#include <stdio.h>
#include <stdlib.h>

static void done(int n) { exit(n); }

int main(void) {
  unsigned char b[3] = {0};
  int n = 0;
  if (fread(b, 1, 3, stdin) != 3)
    done(1);
  if (b[0] == 'x')
    n += 2;
  if (b[1] == 'y')
    n += 4;
  done(n);
}
"#,
    );
    workspace.write("inputs/start", "zzz");
    let report = report(&seeds(&workspace, "out", &["inputs"]).success());
    for value in ["`b[0] == 'x'` true", "`b[0] == 'x'` false", "`b[1] == 'y'` true", "`b[1] == 'y'` false"] {
        seed_for(&report, value);
    }
}

#[test]
fn crashes_among_given_candidates_are_told_apart_under_every_criterion() {
    let workspace = compiled(
        r#"
#include <stdio.h>
#include <stdlib.h>

static volatile int place;
__attribute__((noinline)) static void one(void) { place = 1; abort(); }
__attribute__((noinline)) static void two(void) { place = 2; abort(); }
__attribute__((noinline)) static void three(void) { place = 3; abort(); }

int main(void) {
  switch (getchar()) {
  case '1':
    one();
  case '2':
    two();
  case '3':
    three();
  }
  return 0;
}
"#,
    );
    for text in ["1", "2", "3", "4"] {
        workspace.write(format!("candidates/{text}"), text);
    }
    for criterion in CRITERIA {
        // As completed by a shell.
        let output = format!("{criterion}/");
        let ran = seeds(&workspace, &output, &["candidates", "--no-explore", "--criterion", criterion]);
        let report = report(&ran);
        assert_eq!(report["failures"].as_array().unwrap().len(), 3, "{criterion}: {report:#}");
        assert_eq!(files(&workspace.path(criterion)).len(), 1, "{criterion}");
        assert_eq!(files(&workspace.path(format!("{criterion}-failures"))).len(), 3, "{criterion}");
    }
}

#[test]
fn free_bytes_of_a_file_are_filled_and_its_name_stays() {
    let workspace = compiled(
        r#"
#include <stdio.h>

int main(int argc, char **argv) {
  char b[8] = {0};
  FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!file || fread(b, 1, 8, file) != 8)
    return 1;
  return b[0] == 'M' && b[1] == 'Z';
}
"#,
    );
    workspace.write("inputs/start", "abcdefgh");
    let more = ["inputs", "--criterion", "decision", "--fill", "zero", "--", "@@"];
    let report = report(&seeds(&workspace, "out", &more).success());
    let seed = seed_for(&report, "`b[1] == 'Z'` true");
    assert_eq!(fs::read(workspace.path(seed["file"].as_str().unwrap())).unwrap(), b"MZ\0\0\0\0\0\0");
    assert_eq!(
        (&seed["bytes"], &seed["free"]),
        (&8.into(), &serde_json::json!(["file input: 6 free, 2 fixed"]))
    );
}

#[test]
fn a_variable_that_no_input_has_is_told() {
    let workspace = built("seeds_free_inputs");
    let ran = seeds(&workspace, "out", &[]).success();
    assert!(ran.stderr.contains("asks for a typed variable `x`"), "{ran}");
    assert_ne!(report(&ran)["ended"], "exhausted");
}
