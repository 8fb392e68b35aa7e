//! The score in the mutation-testing report schema, version 2, which viewers of other tools read.

use super::Scored;
use crate::failure::Failure;
use cairn_model::map::Place;
use cairn_mutants::analysis::Fate;
use serde::Serialize;
use std::{collections::BTreeMap, fs};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema_version: &'static str,
    thresholds: Thresholds,
    framework: Framework,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Config<'a>>,
    files: BTreeMap<&'a str, File>,
    test_files: BTreeMap<&'static str, TestFile<'a>>,
}

/// The schema leaves what is in here to us.
#[derive(Serialize)]
struct Config<'a> {
    /// Why there is no score.
    error: &'a str,
}

impl<'a> Report<'a> {
    fn new(
        files: BTreeMap<&'a str, File>,
        tests: impl Iterator<Item = TestEntry<'a>>,
        failure: Option<&'a Failure>,
    ) -> Self {
        Self {
            schema_version: "2",
            thresholds: Thresholds { high: 80, low: 60 },
            framework: Framework { name: "Cairn", version: env!("CARGO_PKG_VERSION") },
            config: failure.map(|failure| Config { error: &failure.message }),
            files,
            test_files: BTreeMap::from([("", TestFile { tests: tests.collect() })]),
        }
    }

    fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is always JSON") + "\n"
    }
}

/// Where viewers turn red and green.
#[derive(Serialize)]
struct Thresholds {
    high: u32,
    low: u32,
}

#[derive(Serialize)]
struct Framework {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct File {
    language: &'static str,
    source: String,
    /// Where each line of the source begins: there are tens of thousands of mutants to place.
    #[serde(skip)]
    lines: Vec<usize>,
    mutants: Vec<MutantResult>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MutantResult {
    id: String,
    mutator_name: String,
    replacement: String,
    location: Location,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_reason: Option<String>,
    killed_by: Vec<String>,
    covered_by: Vec<String>,
}

#[derive(Serialize)]
struct Location {
    start: Position,
    end: Position,
}

/// Lines and columns from 1, the end just past the last character.
#[derive(Serialize)]
struct Position {
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct TestFile<'a> {
    tests: Vec<TestEntry<'a>>,
}

#[derive(Serialize)]
struct TestEntry<'a> {
    id: String,
    name: &'a str,
}

/// The report. Every source file with a selected mutant must be readable where it was when the program was compiled;
/// otherwise its text is empty and the viewer shows mutants without it. `failure` says why it does not amount to a score.
pub fn render(scored: &Scored, failure: Option<&Failure>) -> String {
    let mutants = scored.mutants;
    let fates = scored.matrix.fates(mutants.table.mutants.len());
    let mut files: BTreeMap<&str, File> = BTreeMap::new();
    for mutant in scored.selected.iter() {
        let entry = &mutants.table.mutants[mutant.index()];
        let site = mutants.site(mutant);
        let source = &mutants.map.files[site.extent.start.file as usize];
        let file = files.entry(&source.path).or_insert_with(|| {
            let bytes = fs::read(&source.absolute).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
            File {
                language: language(&source.path),
                lines: std::iter::once(0).chain(breaks).collect(),
                source: text,
                mutants: Vec::new(),
            }
        });
        let (status, status_reason) = status(fates[mutant.index()]);
        let ids = |numbers: &mut dyn Iterator<Item = cairn_mutants::analysis::InputNumber>| {
            numbers.map(|number| number.0.to_string()).collect()
        };
        let location =
            Location { start: file.position(site.extent.start), end: file.position(site.extent.end) };
        file.mutants.push(MutantResult {
            id: entry.stable_id.to_string(),
            mutator_name: entry.operator.clone(),
            replacement: entry.replacement.clone(),
            location,
            status,
            status_reason,
            killed_by: ids(&mut scored.matrix.killers(mutant)),
            covered_by: ids(&mut scored.matrix.reachers(mutant)),
        });
    }
    let numbered = scored.tests.iter().enumerate();
    let tests = numbered.map(|(index, test)| TestEntry { id: index.to_string(), name: &test.name });
    Report::new(files, tests, failure).text()
}

/// The report where nothing was found out, because of `failure`.
pub fn render_failure(failure: &Failure) -> String {
    Report::new(BTreeMap::new(), std::iter::empty(), Some(failure)).text()
}

impl File {
    /// Columns of the schema count characters, ours bytes.
    fn position(&self, place: Place) -> Position {
        let bytes = place.column.saturating_sub(1) as usize;
        let start = self.lines.get(place.line.saturating_sub(1) as usize);
        let line = start.and_then(|start| self.source[*start..].lines().next());
        let column = line.and_then(|line| line.get(..bytes)).map_or(bytes, |before| before.chars().count());
        Position { line: place.line.max(1), column: column as u32 + 1 }
    }
}

fn language(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("cc" | "cpp" | "cxx" | "c++" | "C" | "hh" | "hpp" | "hxx" | "h++" | "H") => "cpp",
        _ => "c",
    }
}

fn status(fate: Fate) -> (&'static str, Option<String>) {
    match fate {
        Fate::Killed { reason, .. } if reason.is_timeout() => ("Timeout", Some(reason.to_string())),
        Fate::Killed { reason, .. } => ("Killed", Some(reason.to_string())),
        Fate::Infected => ("Survived", Some("differs, and nobody notices".into())),
        Fate::Reached => ("Survived", Some("executed, and never differs".into())),
        Fate::NotReached => ("NoCoverage", None),
        Fate::LayoutDependent => ("Ignored", Some("depends on where things lie in memory".into())),
        Fate::Undecided => ("Ignored", Some("could not be told".into())),
        Fate::Pending => ("Pending", None),
    }
}
