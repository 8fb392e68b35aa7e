//! Coverage agrees with `llvm-cov gcov` and with clang's branch and MC/DC coverage, for every kind of condition.
//!
//! Each fixture `condition_*` is built by `cairn-cc` and, separately, by plain clang for both references. All its
//! inputs are run on all builds, crashing ones included.

use cairn_testkit::{
    Workspace, fixture,
    reference::{Difference, ReferenceBuild, compare},
};
use expect_test::{Expect, expect};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// Everything that differs on a fixture, on all its inputs.
fn differences(name: &str) -> Vec<Difference> {
    differences_on(name, "inputs")
}

/// Everything that differs on one input of a fixture, or on all in a folder.
fn differences_on(name: &str, input: &str) -> Vec<Difference> {
    let workspace = Workspace::new();
    let folder = fixture(name);
    let mut sources: Vec<PathBuf> = files(&folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "cpp"))
        .collect();
    sources.sort();
    let is_cxx = sources[0].extension().is_some_and(|extension| extension == "cpp");
    let names: Vec<String> = sources.iter().map(|path| path.display().to_string()).collect();
    let compiler = if is_cxx { "cairn-c++" } else { "cairn-cc" };
    workspace.run(compiler, names.iter().map(String::as_str).chain(["-o", "program"])).success();
    let inputs = folder.join(input);
    let inputs_word = inputs.display().to_string();
    let cover = workspace.run("cairn", ["cover", "./program", &inputs_word, "--format", "json"]);
    let cover: Value = serde_json::from_str(&cover.stdout).unwrap_or_else(|error| panic!("{error}: {cover}"));
    let map = workspace.run("cairn", ["map", "./program", "--json"]).success();
    let map: Value = serde_json::from_str(&map.stdout).expect("the map is JSON");

    let reference = ReferenceBuild::compile(workspace.root(), &sources);
    let all = if inputs.is_dir() { files(&inputs) } else { vec![inputs] };
    for input in all {
        reference.run_with_stdin(&fs::read(input).expect("inputs are readable"));
    }
    compare(&cover, &map, &reference.collect())
}

fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

/// Panics on any difference.
#[track_caller]
fn agrees(name: &str) {
    let differences: Vec<String> = differences(name).iter().map(Difference::to_string).collect();
    assert!(
        differences.is_empty(),
        "{name}:
{}",
        differences.join(
            "
"
        )
    );
}

/// Panics unless exactly these differences are found. Each has its reason beside it.
#[track_caller]
fn differs_in(name: &str, expected: Expect) {
    let differences: String = differences(name).iter().map(|difference| format!("{difference}\n")).collect();
    expected.assert_eq(&differences);
}

#[test]
fn plain_conditions_agree() {
    agrees("condition_if");
}

#[test]
fn logical_values_agree() {
    agrees("condition_value");
}

#[test]
fn ternaries_agree() {
    agrees("condition_ternary");
}

#[test]
fn ternaries_that_are_conditions_agree() {
    agrees("condition_split");
}

/// clang lists conditions of `sizeof` (`assert` has one) and behind a constant, for which there is no code; and it
/// loses a label whose keyword comes from a macro and whose colon does not.
#[test]
fn only_clang_lists_conditions_without_code() {
    differs_in(
        "condition_unevaluated",
        expect![[r#"
        target.c:11:3: branches ours [T- T-] theirs [-- -F T- T-]
        target.c:12:18: branches ours [] theirs [-F]
        target.c:13:21: branches ours [] theirs [--]
        target.c:16:3: branches ours [-F TF] theirs [-F]
        target.c:11:3: decision of 2 conditions only theirs
        target.c:13:7: decision of 2 conditions only theirs
    "#]],
    );
}

#[test]
fn case_labels_agree() {
    agrees("condition_switch");
}

/// What falls through into a label that only breaks jumps straight to the end; nothing in the bitcode tells.
#[test]
fn falling_into_a_lone_break_is_not_seen() {
    differs_in(
        "condition_break",
        expect![[r#"
        target.c:20: executed according to both references only
    "#]],
    );
}

#[test]
fn large_ranges_agree() {
    agrees("condition_large_range");
}

#[test]
fn loops_agree() {
    agrees("condition_loops");
}

#[test]
fn conditions_from_macros_agree() {
    agrees("condition_macro");
}

#[test]
fn conditions_over_all_types_agree() {
    agrees("condition_types");
}

#[test]
fn copies_of_inline_functions_agree() {
    agrees("condition_inline");
}

#[test]
fn gnu_extensions_agree() {
    agrees("condition_gnu");
}

/// gcov solves flow equations, which do not hold for functions left by `exit` or `longjmp`: it denies lines before
/// the call and invents lines behind it. Source-based coverage counts regions, so it invents the latter too.
#[test]
fn only_we_see_where_a_program_was_left() {
    differs_in(
        "condition_exit",
        expect![[r#"
        target.c:41: executed according to both references only
        target.c:42: executed according to both references only
    "#]],
    );
}

/// With nothing but a run that is left early: gcov denies even the lines of `main` before the call, and clang, which
/// gets one direction by subtracting the other from the runs that began, takes the missing runs for it.
#[test]
fn references_misjudge_functions_left_early() {
    let differences: String = differences_on("condition_exit", "inputs/2")
        .iter()
        .map(|difference| format!("{difference}\n"))
        .collect();
    expect![[r#"
        target.c:24: executed, denied by gcov
        target.c:26: executed, denied by gcov
        target.c:28: executed, denied by gcov
        target.c:22: executed according to both references only
        target.c:30:23: branches ours [--] theirs [-F]
        target.c:33:7: branches ours [--] theirs [-F]
        target.c:38:7: branches ours [--] theirs [-F]
    "#]]
    .assert_eq(&differences);
}

/// Likewise for functions left by a crash.
#[test]
fn crashing_inputs_agree_but_for_what_gcov_cannot_know() {
    differs_in("condition_crash", expect![""]);
}

/// Likewise for functions left by an exception.
#[test]
fn cxx_agrees_but_for_what_gcov_cannot_know() {
    differs_in("condition_cxx", expect![""]);
}
