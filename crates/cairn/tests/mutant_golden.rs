//! The mutants of every operator, as text.
//!
//! Each folder in `operators/` belongs to one operator: `target.c` is a small source, `expected.txt` its mutants. Under
//! each expression stands what it becomes:
//!
//! ```text
//!   3:31 - return a + b;
//!        + return a - b;     a mutant, and the source that compiles to it
//!        ~ return a ? b;     a mutant that is no change of text, as it is shown
//!        = return b + a;     left out: compiles to the same code
//!        : return b - a;     left out: compiles to the same code as another mutant
//!        ! return a / 0;     left out: not valid code
//! ```
//! `UPDATE_EXPECT=1` writes what is found.

use cairn_model::{
    SiteId,
    map::{ProgramMap, Site},
    mutants::{DropReason, MutantTable},
};
use cairn_mutants::catalogue::operators;
use cairn_testkit::{Workspace, mutants::MutantBuild};
use expect_test::expect_file;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::PathBuf,
};

fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tells it")).join("tests/operators")
}

/// Every fourth operator, from this one on: four tests run at the same time where one would be slow.
fn check(first: usize) {
    for operator in operators().filter(|operator| operator.is_made()).skip(first).step_by(4) {
        let expected = folder().join(operator.name).join("expected.txt");
        expect_file![expected].assert_eq(&mutants_of(operator.name));
    }
}

#[test]
fn operators_make_the_expected_mutants() {
    check(0);
}

#[test]
fn a_second_quarter_of_the_operators_too() {
    check(1);
}

#[test]
fn a_third_quarter_too() {
    check(2);
}

#[test]
fn and_the_last() {
    check(3);
}

#[test]
fn every_operator_has_a_folder() {
    let operators: BTreeSet<String> =
        operators().filter(|o| o.is_made()).map(|o| o.name.to_owned()).collect();
    let folders: BTreeSet<String> = fs::read_dir(folder())
        .expect("the folder of operators")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(folders, operators);
}

/// The mutants that an operator makes of its source.
fn mutants_of(operator: &str) -> String {
    let source = folder().join(operator).join("target.c");
    let workspace = Workspace::new();
    fs::copy(&source, workspace.path("target.c")).expect("copy a source");
    workspace.run("cairn-cc", ["-w", "target.c", "-o", "program"]).success();
    let build = MutantBuild::of(&workspace.path("program"), operator, None);
    let text = fs::read_to_string(&source).expect("a source is text");
    show(&build.map, &build.table, &text)
}

fn show(map: &ProgramMap, table: &MutantTable, source: &str) -> String {
    let mut by_site: BTreeMap<_, Vec<(char, &str)>> = BTreeMap::new();
    let key = |site: SiteId| (map.sites[site.index()].extent.start, site);
    for mutant in &table.mutants {
        let sign = if mutant.is_plain_text { '+' } else { '~' };
        let site = table.patches[mutant.patch.index()].site;
        by_site.entry(key(site)).or_default().push((sign, &mutant.replacement));
    }
    for dropped in &table.dropped {
        let sign = match dropped.reason {
            DropReason::Equivalent => '=',
            DropReason::Duplicate(_) => ':',
            DropReason::Invalid => '!',
        };
        by_site.entry(key(dropped.site)).or_default().push((sign, &dropped.replacement));
    }
    let lines: Vec<&str> = source.lines().collect();
    let mut text = String::new();
    for ((place, site), mutants) in by_site {
        let site = &map.sites[site.index()];
        let (before, after) = around(site, &lines);
        let head = format!("{}:{}", place.line, place.column);
        let _ = writeln!(text, "{head:<6} - {before}{}{after}", site.text);
        for (sign, replacement) in mutants {
            let _ = writeln!(text, "{:<6} {sign} {before}{replacement}{after}", "");
        }
    }
    text
}

/// What stands before and behind a site in its lines.
fn around<'a>(site: &Site, lines: &[&'a str]) -> (&'a str, &'a str) {
    let (start, end) = (site.extent.start, site.extent.end);
    let before = &lines[start.line as usize - 1][..start.column as usize - 1];
    let after = &lines[end.line as usize - 1][end.column as usize - 1..];
    (before.trim_start(), after)
}
