//! `cairn report --json`.

use super::page::{SCRIPT, campaign};
use cairn_testkit::Workspace;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs};

fn report(workspace: &Workspace) -> Value {
    let ran = workspace.run("cairn", ["report", "campaign", "--json"]).success();
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"))
}

/// The one of a list whose field has a value.
#[track_caller]
fn the<'a>(list: &'a Value, field: &str, value: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|one| one[field] == value);
    found.unwrap_or_else(|| panic!("no `{field}` is `{value}`: {list:#}"))
}

#[test]
fn programs_are_told_what_the_page_shows() {
    let workspace = campaign();
    let report = report(&workspace);
    assert_eq!(report["format"], 2);
    let figures =
        ["n_branches_reached", "n_branches", "n_entries", "n_inputs", "ended", "command", "workers"];
    assert_eq!(
        figures.map(|name| report[name].clone()),
        [json!(8), json!(14), json!(2), json!(3), json!("budget"), json!("./prog"), json!(1)],
        "{report:#}"
    );
    assert_eq!(report["warnings"], json!(["the program fails on 1 of 3 seeds; they are kept apart"]));

    let curve = report["coverage_over_time"].as_array().unwrap();
    let reached: Vec<u64> = curve.iter().map(|point| point["n_branches"].as_u64().unwrap()).collect();
    assert!(reached.is_sorted() && reached.last() == Some(&8), "{curve:?}");
    let last = report["moments"].as_array().unwrap().last().unwrap();
    assert_eq!([&last["n_entries"], &last["n_failures"], &last["n_inputs"]], [2, 1, 3]);

    let check = the(&report["functions"], "name", "check");
    assert_eq!(
        (&check["path"], &check["line"], &check["is_entered"]),
        (&json!("prog.c"), &json!(5), &json!(true))
    );
    assert_eq!(check["branches"], json!({"covered": 4, "total": 6}));
    let missing = the(&check["missing"], "text", "text[1] == '!'");
    assert_eq!((&missing["line"], &missing["never"]), (&json!(7), &json!([true])));
    assert_eq!(the(&report["functions"], "name", "never")["is_entered"], false);

    let failure = &report["failures"][0];
    assert_eq!((&failure["kind"], &failure["ending"]), (&json!("abort"), &json!("dies of SIGABRT")));
    assert_eq!(failure["found"]["strategy"], "seed");
    assert!(failure["input"]["text"].as_str().unwrap().contains("boom"), "{failure:#}");
    let file = workspace.path("campaign").join(failure["file"].as_str().unwrap());
    assert_eq!(fs::read(file).unwrap(), b"boom");

    let script = &report["corpus"].as_array().unwrap().iter().find(|kept| {
        fs::read(workspace.path("campaign").join(kept["file"].as_str().unwrap())).unwrap()
            == SCRIPT.as_bytes()
    });
    let script = script.unwrap_or_else(|| panic!("{:#}", report["corpus"]));
    assert!(script["kept_for"].as_str().unwrap().contains("`text[0] == '<'` is true"), "{script:#}");
    assert_eq!((&script["found"]["made_by"], &script["found"]["parent"]), (&json!("given"), &Value::Null));
    assert_eq!([&report["work"]["seed"]["n_entries"], &report["work"]["seed"]["n_failures"]], [2, 1]);
    assert!(report.get("mutants").is_none());
}

#[test]
fn an_input_that_is_gone_is_null() {
    let workspace = campaign();
    for folder in ["crashes", "corpus"] {
        let file = fs::read_dir(workspace.path("campaign").join(folder)).unwrap().next().unwrap().unwrap();
        fs::remove_file(file.path()).unwrap();
    }
    let report = report(&workspace);
    for list in ["failures", "corpus"] {
        let is_gone = |one: &&Value| one["file"] == Value::Null && one["input"] == Value::Null;
        assert_eq!(report[list].as_array().unwrap().iter().filter(is_gone).count(), 1, "{report:#}");
    }
}

#[test]
fn the_book_names_every_field() {
    let workspace = campaign();
    let book = include_str!("../../../../docs/campaigns.md");
    let section = book.split("### For programs").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut names = BTreeSet::new();
    collect(&report(&workspace), &mut names);
    // Strategies have names of their own.
    names.remove("seed");
    for name in names {
        assert!(section.contains(&format!("`{name}`")), "`{name}` is not in the book");
    }
}

/// The names of all fields.
fn collect(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            names.insert(name.clone());
            collect(value, names);
        }),
        Value::Array(values) => values.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}
