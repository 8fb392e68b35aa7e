//! What the numbers say.

use super::support::{KINDS, fates, json, number, report, score, workspace};

const FEW: [(&str, &str); 2] = [("five", "5"), ("thousand", "1000")];
const MORE: [(&str, &str); 8] = [
    ("five", "5"),
    ("thousand", "1000"),
    ("nine", "9"),
    ("ten", "10"),
    ("hundred-one", "101"),
    ("hundred-two", "102"),
    ("none", "x"),
    ("seven-seven-seven", "777"),
];

#[test]
fn more_inputs_kill_more_and_every_mutant_is_counted_once() {
    let few = report(&workspace(KINDS, &FEW), &[]);
    let more = report(&workspace(KINDS, &MORE), &[]);
    for report in [&few, &more] {
        let parts = ["killed", "survived", "not_reached", "layout_dependent", "undecided", "pending"];
        let sum: u64 = parts.iter().map(|part| number(report, part)).sum();
        assert_eq!(sum, number(report, "selected"), "{report:#}");
        assert_eq!(number(report, "selected") as usize, fates(report).len());
        assert!(number(report, "infected") <= number(report, "reached"));
    }
    assert_eq!(number(&few, "selected"), number(&more, "selected"));
    assert!(number(&few, "killed") > 0, "{few:#}");
    assert!(number(&more, "killed") > number(&few, "killed"), "{more:#}");
    // Nobody calls `unused`.
    assert!(number(&more, "not_reached") > 0, "{more:#}");
}

#[test]
fn what_is_killed_is_the_same_for_any_number_of_workers() {
    let one = report(&workspace(KINDS, &MORE), &["--jobs", "1"]);
    let three = report(&workspace(KINDS, &MORE), &["--jobs", "3"]);
    assert_eq!(fates(&one), fates(&three));
}

#[test]
fn the_full_matrix_agrees_with_the_quick_one_and_gives_a_subset_that_is_as_good() {
    let workspace = workspace(KINDS, &MORE);
    let quick = report(&workspace, &[]);
    let full = report(&workspace, &["--full-matrix"]);
    let killed = |report| -> Vec<_> {
        fates(report).into_iter().filter(|(_, (fate, _))| fate == "killed").map(|(id, _)| id).collect()
    };
    assert_eq!(killed(&quick), killed(&full));
    assert!(quick["subset"].is_null());
    let subset: Vec<&str> =
        full["subset"]["inputs"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(subset.len() < MORE.len(), "{subset:?}");
    assert!(full["subset"]["at_least"].as_u64().unwrap() as usize <= subset.len());
    let words = ["score", "./program", "--format", "json"].into_iter().chain(subset);
    let alone = json(&workspace.run("cairn", words).success());
    assert_eq!(killed(&alone), killed(&full));
}

#[test]
fn the_text_has_the_summary_first_and_survivors_with_their_lines() {
    let workspace = workspace(KINDS, &FEW);
    let ran = score(&workspace, &[]).success();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("  target     ./program ("), "{ran}");
    assert!(lines[1].starts_with("  score      "), "{ran}");
    let survivors = lines.iter().position(|line| *line == "survivors:").unwrap_or_else(|| panic!("{ran}"));
    assert!(lines[survivors + 1].starts_with("  program.c:"), "{ran}");
    assert!(lines[survivors + 1].contains("  - "), "{ran}");
    assert!(ran.stdout.contains("nobody notices") && ran.stdout.contains("not reached"), "{ran}");
    assert_eq!(ran.stderr, "", "nothing to warn of");
}

#[test]
fn a_score_below_the_one_asked_for_is_told_by_the_exit_code() {
    let workspace = workspace(KINDS, &FEW);
    let ran = score(&workspace, &["--fail-under", "100"]).exits_with(5);
    assert!(ran.stderr.contains("below 100%"), "{ran}");
    score(&workspace, &["--fail-under", "1"]).success();
}

#[test]
fn mutants_that_never_end_are_killed_by_fuel() {
    let source = r#"
#include <stdio.h>
int main(void) {
  int sum = 0;
  for (int i = 0; i < 5; i = i + 1) sum += i;
  printf("%d\n", sum);
}
"#;
    let report = report(&workspace(source, &[("empty", "")]), &["--set", "all"]);
    assert!(report["score"]["killed_by"]["fuel"].as_u64() > Some(0), "{:#}", report["score"]);
    assert_eq!(report["score"]["killed_by"]["timeout"], serde_json::Value::Null, "{:#}", report["score"]);
}
