//! Which mutants are asked about, and how they are shown.

use super::support::{KINDS, fates, ids, json, listed, report, score, workspace};
use cairn_testkit::{Ran, Workspace};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const INPUTS: [(&str, &str); 2] = [("five", "5"), ("thousand", "1000")];

#[test]
fn choices_by_place_operator_and_id_narrow_what_is_listed_and_scored() {
    let workspace = workspace(KINDS, &INPUTS);
    let all = listed(&workspace, &[]);
    let all_mutants = all["mutants"].as_array().unwrap();
    let places = |report: &serde_json::Value| -> BTreeSet<(String, u64)> {
        let mutants = report["mutants"].as_array().unwrap();
        mutants
            .iter()
            .map(|mutant| (mutant["function"].as_str().unwrap().to_owned(), mutant["line"].as_u64().unwrap()))
            .collect()
    };
    let half = listed(&workspace, &["--function", "half"]);
    assert_eq!(places(&half), BTreeSet::from([("half".to_owned(), 3)]));
    let line = listed(&workspace, &["--line", "program.c:8"]);
    assert_eq!(places(&line), BTreeSet::from([("main".to_owned(), 8)]));
    assert_eq!(listed(&workspace, &["--file", "program.c"])["mutants"], all["mutants"]);
    let first = &all_mutants[0];
    let (id, operator) = (first["id"].as_str().unwrap(), first["operator"].as_str().unwrap());
    let by_operator = listed(&workspace, &["--operator", operator]);
    assert!(by_operator["mutants"].as_array().unwrap().iter().all(|mutant| mutant["operator"] == operator));
    assert_eq!(ids(&report(&workspace, &["--id", id])), BTreeSet::from([id.to_owned()]));
    assert_eq!(ids(&report(&workspace, &["--id", &id[..10]])), BTreeSet::from([id.to_owned()]));
    assert_eq!(ids(&report(&workspace, &["--id", id, "--sample", "1"])), BTreeSet::from([id.to_owned()]));
    assert_eq!(listed(&workspace, &["--sample", "2"])["mutants"].as_array().unwrap().len(), 2);
    let reached = listed(&workspace, &["--reached-by", "inputs/five"]);
    let reached = reached["mutants"].as_array().unwrap();
    assert!(!reached.is_empty() && reached.len() < all_mutants.len());
    assert!(
        reached.iter().all(|mutant| mutant["function"] == "main"),
        "five is small: nobody asks for half of it"
    );
}

#[test]
fn what_programs_noted_by_themselves_chooses_as_their_inputs_do() {
    let workspace = workspace(KINDS, &INPUTS);
    let id = listed(&workspace, &[])["mutants"][0]["id"].as_str().unwrap().to_owned();
    let shown = workspace.run("cairn", ["mutants", "./program", "show", &id]).success().stdout;
    let view = shown.split_whitespace().last().unwrap();
    let note = |path: &str, input: &str| {
        let path = workspace.path(path);
        Ran::of(workspace.command(view).env("CAIRN_REACH", path), input.as_bytes()).success();
    };
    note("noted", "5");
    let by = |paths: &[&str]| {
        let options: Vec<&str> = paths.iter().flat_map(|path| ["--reached-by", *path]).collect();
        listed(&workspace, &options)["mutants"].clone()
    };
    assert_eq!(by(&["noted"]), by(&["inputs/five"]));
    assert_eq!(by(&["noted", "inputs/thousand"]), by(&["inputs"]));
    note("noted", "1000");
    assert_eq!(by(&["noted"]), by(&["inputs"]));
    assert_ne!(by(&["inputs"]), by(&["inputs/five"]));
    let other = workspace.run("cairn", ["mutants", "./program", "--set", "mu2", "--reached-by", "noted"]);
    let other = other.exits_with(2);
    assert!(
        other.stderr.contains("it belongs to another program, another build or another set of mutants"),
        "{other}"
    );
}

#[test]
fn shares_are_disjoint_and_together_everything() {
    let workspace = workspace(KINDS, &INPUTS);
    let all = report(&workspace, &[]);
    let shares: Vec<_> = ["1/2", "2/2"].map(|share| report(&workspace, &["--shard", share])).into();
    let (first, second) = (fates(&shares[0]), fates(&shares[1]));
    assert!(first.keys().all(|id| !second.contains_key(id)));
    assert!(first.len().abs_diff(second.len()) <= 1, "{} and {}", first.len(), second.len());
    let empty = score(&workspace, &["--sample", "1", "--shard", "2/2"]).success();
    assert_eq!(empty.stdout, "nothing to do: there is no mutant in this share\n");
    let empty = report(&workspace, &["--sample", "1", "--shard", "2/2"]);
    assert_eq!((&empty["score"], &empty["error"]["exit"]), (&Value::Null, &json!(0)), "{empty:#}");
    assert_eq!(first.into_iter().chain(second).collect::<std::collections::BTreeMap<_, _>>(), fates(&all));
}

#[test]
fn a_diff_chooses_the_lines_it_adds() {
    let workspace = workspace(KINDS, &INPUTS);
    let diff = "--- a/program.c\n+++ b/program.c\n@@ -8,0 +8,1 @@\n+  if (number < 10) puts(\"small\");\n";
    workspace.write("change.diff", diff);
    let chosen = listed(&workspace, &["--in-diff", "change.diff"]);
    assert!(chosen["mutants"].as_array().unwrap().iter().all(|mutant| mutant["line"] == 8), "{chosen:#}");
    let words = ["mutants", "./program", "--json", "--in-diff", "-"];
    let piped = Ran::of(workspace.command("cairn").args(words), diff.as_bytes()).success();
    assert_eq!(json(&piped), chosen);
    workspace.write("empty.diff", "");
    let ran = score(&workspace, &["--in-diff", "empty.diff"]).exits_with(6);
    assert!(ran.stderr.contains("is on a line that the diff adds"), "{ran}");
    workspace.write("bad.diff", "this is a poem\n");
    let ran = score(&workspace, &["--in-diff", "bad.diff"]).exits_with(2);
    assert!(ran.stderr.contains("this is no unified diff"), "{ran}");
}

#[test]
fn choosing_nothing_names_the_choice_and_a_wrong_word_the_nearest() {
    let workspace = workspace(KINDS, &INPUTS);
    let ran = score(&workspace, &["--function", "nobody"]).exits_with(6);
    assert!(
        ran.stderr.contains("no mutant is selected: none of ") && ran.stderr.contains("`nobody`"),
        "{ran}"
    );
    let ran = score(&workspace, &["--set", "compct"]).exits_with(2);
    assert!(ran.stderr.contains("did you mean `compact`?"), "{ran}");
    let ran = score(&workspace, &["--set", "compact,-compact"]).exits_with(2);
    assert!(ran.stderr.contains("error: `compact,-compact` leaves no operator"), "{ran}");
    assert!(ran.stderr.contains("hint: "), "{ran}");
    for option in ["--sample", "--sample-per-line"] {
        let ran = score(&workspace, &[option, "0"]).exits_with(2);
        assert!(ran.stderr.contains(&format!("error: `{option} 0` leaves no mutant")), "{ran}");
        assert!(ran.stderr.contains("hint: give a number from 1 on"), "{ran}");
    }
    let ran = score(&workspace, &["--id", "0123456789abcdef"]).exits_with(2);
    assert!(ran.stderr.contains("there is no mutant `0123456789abcdef`"), "{ran}");
    let ran = score(&workspace, &["--id", ""]).exits_with(2);
    assert!(ran.stderr.contains(" mutants have ids that start with ``"), "{ran}");
    for wrong in [["--shard", "3/2"], ["--line", "12"], ["--budget", "soon"], ["--fail-under", "120"]] {
        score(&workspace, &wrong).exits_with(2);
    }
    let ran = workspace.run("cairn", ["score", "./program"]).exits_with(2);
    assert!(ran.stderr.contains("no inputs were named"), "{ran}");
}

#[test]
fn a_mutant_is_shown_with_what_surviving_means_and_how_to_kill_it() {
    let workspace = workspace(KINDS, &INPUTS);
    let all = listed(&workspace, &["--line", "program.c:8"]);
    let id = all["mutants"][0]["id"].as_str().unwrap();
    let ran = workspace.run("cairn", ["mutants", "./program", "show", &id[..8]]).success();
    for part in ["- if (number < 10)", "  operator   ", "  surviving  ", "  to kill it ", id] {
        assert!(ran.stdout.contains(part), "{part}: {ran}");
    }
    let ran = workspace.run("cairn", ["mutants", "./program", "show", "123456789abcdef0"]).exits_with(2);
    assert!(ran.stderr.contains("there is no mutant `123456789abcdef0`"), "{ran}");
    let list = workspace.run("cairn", ["mutants", "./program"]).success();
    assert!(list.stdout.contains("  target     ./program ("), "{list}");
    assert!(list.stdout.contains("+ if (number"), "{list}");
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_anything_is_done() {
    let workspace = workspace(KINDS, &INPUTS);
    // Not even the program is looked at.
    let words = ["score", "./nobody", "inputs", "--output", "no/such/folder/report.json"];
    let ran = workspace.run("cairn", words).exits_with(2);
    assert!(ran.stderr.contains("the report cannot be written to `no/such/folder/report.json`"), "{ran}");
    assert!(ran.stderr.contains("hint: "), "{ran}");
    score(&workspace, &["--output", "/dev/null"]).success();
    workspace.write("report.txt", "an older report\n".repeat(1000));
    let ran = score(&workspace, &["--output", "report.txt"]).success();
    assert_eq!(ran.stdout, "");
    assert!(workspace.read("report.txt").starts_with("  target     ./program ("));
    assert!(!workspace.read("report.txt").contains("older"));
}

#[test]
fn sources_that_changed_after_the_build_are_told_and_no_diff_is_taken_for_them() {
    let workspace = workspace(KINDS, &INPUTS);
    let mutants = |options: &[&str]| workspace.run("cairn", ["mutants", "./program"].iter().chain(options));
    workspace.write(
        "change.diff",
        "--- a/program.c\n+++ b/program.c\n@@ -8,0 +8,1 @@\n+  if (number < 10) puts(\"small\");\n",
    );
    workspace.write("program.c", format!("{KINDS}// Nothing moves.\n"));
    let list = mutants(&["--in-diff", "change.diff"]).success();
    assert_eq!(list.stderr, "");
    assert!(list.stdout.contains("- if (number < 10) puts(\"small\");"), "{list}");
    workspace.write("program.c", format!("// Everything moves.\n{KINDS}"));
    let list = mutants(&[]).success();
    assert!(list.stderr.contains("warning: `program.c` was changed after the program was built"), "{list}");
    assert!(list.stdout.contains("- number < 10") && !list.stdout.contains("puts"), "{list}");
    for ran in [mutants(&["--in-diff", "change.diff"]), score(&workspace, &["--in-diff", "change.diff"])] {
        let ran = ran.exits_with(2);
        assert!(ran.stderr.contains("error: `program.c` was changed after the program was built"), "{ran}");
        assert!(ran.stderr.contains("hint: build the program again"), "{ran}");
    }
    workspace.write("other.diff", "--- a/other.c\n+++ b/other.c\n@@ -8,0 +8,1 @@\n+int other;\n");
    let ran = mutants(&["--in-diff", "other.diff"]).exits_with(6);
    assert!(ran.stderr.contains("is on a line that the diff adds"), "{ran}");
}

#[test]
fn what_code_was_generated_from_is_no_changed_source() {
    let source = "#include <stdio.h>\nint main(void) {\n#line 2 \"rules.y\"\n  int sum = getchar() + 7;\n  \
                  printf(\"%d\\n\", sum);\n  return 0;\n}\n";
    let workspace = super::support::workspace("int main(void) {}\n", &[("a", "a")]);
    workspace.write("rules.y", "%%\nsum: $$ = $1 + 7;\n  printf(\"%d\\n\", sum);\n  return 0;\n");
    workspace.write("program.c", source);
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    let ran = workspace.run("cairn", ["mutants", "./program"]).success();
    assert_eq!(ran.stderr, "", "{ran}");
    // Where the text is there its line is shown, elsewhere only the text.
    assert!(ran.stdout.contains("rules.y:2:13  - getchar() + 7\n"), "{ran}");
    assert!(ran.stdout.contains("rules.y:4:10  - return 0;\n"), "{ran}");
}

#[test]
fn what_has_no_mutants_is_told_with_the_score() {
    // The compiler drops one test of a macro, so there is less code than expressions.
    let source = "#include <stdio.h>\n\
        #define PICK(c, a) ((c) ? (a) : (a) + 1)\n\
        static int pick(int x) { return PICK(1, x) + PICK(x, x); }\n\
        static void nothing(void) {}\n\
        int main(void) { int n = 0; scanf(\"%d\", &n); nothing(); printf(\"%d\", pick(n)); return 0; }\n";
    let workspace = workspace(source, &INPUTS);
    let listed = listed(&workspace, &[]);
    let reported = report(&workspace, &[]);
    assert_eq!(listed["not_mutated"], reported["score"]["not_mutated"], "{:#}", reported["score"]);
    assert_eq!(
        listed["not_mutated"],
        json!({
            "functions": { "nothing-to-mutate": 1 },
            "ambiguous_expressions": 2,
            "expanded_expressions": 0,
            "unlike_expressions": 0,
        })
    );
    let rows = "\n  unmutated  1 function: has nothing that the chosen operators change\n  \
        unmutated  2 expressions: cannot be told from others at the same place\n";
    let scored = score(&workspace, &[]).success();
    assert!(scored.stdout.contains(rows), "{scored}");
    let listed = workspace.run("cairn", ["mutants", "./program"]).success();
    assert!(format!("{}\n", listed.stdout.trim_end()).contains(rows), "{listed}");
}

#[test]
fn code_that_runs_constructors_is_not_told_as_a_function_without_mutants() {
    let workspace = Workspace::new();
    workspace.write(
        "program.cpp",
        "struct Box { int size; Box(int n) : size(n + 1) {} };\nBox box(3);\nint main() { return box.size > 9; }\n",
    );
    workspace.run("cairn-c++", ["program.cpp", "-o", "program"]).success();
    let listed = listed(&workspace, &[]);
    let names: Vec<&str> =
        listed["unmutated"].as_array().unwrap().iter().map(|one| one["function"].as_str().unwrap()).collect();
    assert!(!names.contains(&""), "{names:?}");
}
