//! Coverage agrees with `llvm-cov gcov` and with clang's branch and MC/DC coverage, for every kind of condition.
//!
//! Each fixture `condition_*` is built by `cairn-cc` and, separately, by plain clang for both references. All its
//! inputs are run on all builds, crashing ones included.

use cairn_testkit::{
    Workspace, fixture,
    reference::{Difference, ReferenceBuild, compare},
};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// Everything that differs on a fixture.
fn differences(name: &str) -> Vec<Difference> {
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
    let inputs = folder.join("inputs");
    let inputs_word = inputs.display().to_string();
    let cover = workspace.run("cairn", ["cover", "./program", &inputs_word, "--format", "json"]);
    let cover: Value = serde_json::from_str(&cover.stdout).unwrap_or_else(|error| panic!("{error}: {cover}"));
    let map = workspace.run("cairn", ["map", "./program", "--json"]).success();
    let map: Value = serde_json::from_str(&map.stdout).expect("the map is JSON");

    let reference = ReferenceBuild::compile(workspace.root(), &sources);
    for input in files(&inputs) {
        reference.run_with_stdin(&fs::read(input).expect("inputs are readable"));
    }
    compare(&cover, &map, &reference.collect())
}

fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("the folder exists").map(|entry| entry.expect("readable").path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

/// Panics on any difference but lines that gcov denies because a function was left early.
#[track_caller]
fn agrees(name: &str) {
    let differences: Vec<String> = differences(name).iter().map(Difference::to_string).collect();
    assert!(differences.is_empty(), "{name}:\n{}", differences.join("\n"));
}

/// Like [`agrees`], for programs left by `exit`, `longjmp`, exceptions and crashes.
#[track_caller]
fn agrees_but_for_lines_gcov_denies(name: &str) {
    let differences = differences(name);
    let others: Vec<String> = differences
        .iter()
        .filter(|difference| !matches!(difference, Difference::GcovDenies(..)))
        .map(Difference::to_string)
        .collect();
    assert!(others.is_empty(), "{name}:\n{}", others.join("\n"));
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
fn case_labels_agree() {
    agrees("condition_switch");
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

#[test]
fn calls_that_do_not_come_back_agree() {
    agrees_but_for_lines_gcov_denies("condition_exit");
}

#[test]
fn crashing_inputs_agree() {
    agrees_but_for_lines_gcov_denies("condition_crash");
}

#[test]
fn cxx_agrees() {
    agrees_but_for_lines_gcov_denies("condition_cxx");
}
