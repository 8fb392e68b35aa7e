//! A folder with a program that has mutants, and inputs for it.

use cairn_testkit::{Ran, Workspace};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Says what kind of number stands on standard input, and checks nothing about its sign when it is large.
pub const KINDS: &str = r#"
#include <stdio.h>
static int half(int number) { return number / 2; }
static int unused(int number) { return number * 3 + 1; }
int main(int argc, char **argv) {
  int number = 0;
  if (scanf("%d", &number) != 1) { puts("none"); return 2; }
  if (number < 10) puts("small");
  else if (half(number) > 50 && number != 777) puts("large");
  else puts("medium");
  return argc > 9 ? unused(number) : 0;
}
"#;

/// A built program, and inputs by name, given on standard input.
pub fn workspace(source: &str, inputs: &[(&str, &str)]) -> Workspace {
    let workspace = Workspace::new();
    workspace.write("program.c", source);
    workspace.run("cairn-cc", ["program.c", "-o", "program"]).success();
    for (name, content) in inputs {
        workspace.write(format!("inputs/{name}"), content);
    }
    workspace
}

/// Scores the folder `inputs`.
pub fn score(workspace: &Workspace, options: &[&str]) -> Ran {
    workspace.run("cairn", ["score", "./program", "inputs"].iter().chain(options))
}

/// Scores the folder `inputs` and returns the report.
pub fn report(workspace: &Workspace, options: &[&str]) -> Value {
    let options: Vec<&str> = options.iter().copied().chain(["--format", "json"]).collect();
    json(&score(workspace, &options).success())
}

/// The JSON on standard output.
pub fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// The fate of every mutant by id, with the names of its killers.
pub fn fates(report: &Value) -> BTreeMap<String, (String, Vec<String>)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mutants = report["mutants"].as_array().expect("a list");
    mutants
        .iter()
        .map(|mutant| {
            let killers = mutant["killed_by"].as_array().into_iter().flatten().map(text).collect();
            (text(&mutant["id"]), (text(&mutant["fate"]), killers))
        })
        .collect()
}

/// The ids of all mutants in a report.
pub fn ids(report: &Value) -> BTreeSet<String> {
    fates(report).into_keys().collect()
}

/// A number of the report's score.
pub fn number(report: &Value, name: &str) -> u64 {
    report["score"][name].as_u64().unwrap_or_else(|| panic!("no number `{name}`: {report:#}"))
}

/// Mutants listed by `cairn mutants`, as JSON.
pub fn listed(workspace: &Workspace, options: &[&str]) -> Value {
    let words = ["mutants", "./program", "--json"].iter().chain(options);
    json(&workspace.run("cairn", words).success())
}
