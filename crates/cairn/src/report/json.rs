//! Coverage for programs. The layout is versioned by `format`.

use super::{Share, by_file};
use cairn_model::{Coverage, ProgramMap};
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    totals: Totals,
    files: Vec<File<'a>>,
}

#[derive(Default, Serialize)]
struct Totals {
    lines: Share,
    branches: Share,
    functions: Share,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    absolute: &'a str,
    lines_executed: Vec<u32>,
    lines_not_executed: Vec<u32>,
    functions: Vec<Function<'a>>,
    conditions: Vec<Condition<'a>>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    line: u32,
    entered: bool,
}

#[derive(Serialize)]
struct Condition<'a> {
    id: String,
    function: &'a str,
    line: u32,
    column: u32,
    text: &'a str,
    taken_true: bool,
    taken_false: bool,
}

/// The report.
pub fn render(map: &ProgramMap, coverage: &Coverage) -> String {
    let mut totals = Totals::default();
    let files = by_file(map, coverage)
        .into_iter()
        .map(|(path, file)| {
            for (sum, share) in [
                (&mut totals.lines, file.line_share()),
                (&mut totals.branches, file.branch_share()),
                (&mut totals.functions, file.function_share()),
            ] {
                sum.covered += share.covered;
                sum.total += share.total;
            }
            let lines = |executed: bool| {
                file.lines.iter().filter(|(_, is)| **is == executed).map(|(line, _)| *line).collect()
            };
            let absolute =
                map.files.iter().find(|file| file.path == path).map_or(path, |file| &file.absolute);
            File {
                path,
                absolute,
                lines_executed: lines(true),
                lines_not_executed: lines(false),
                functions: file
                    .functions
                    .iter()
                    .map(|(function, entered)| Function {
                        name: &function.name,
                        line: function.place.line,
                        entered: *entered,
                    })
                    .collect(),
                conditions: file
                    .conditions
                    .iter()
                    .map(|(_, condition, [taken_true, taken_false])| Condition {
                        id: condition.stable_id.to_string(),
                        function: &map.functions[condition.function.index()].symbol,
                        line: condition.extent.start.line,
                        column: condition.extent.start.column,
                        text: &condition.text,
                        taken_true: *taken_true,
                        taken_false: *taken_false,
                    })
                    .collect(),
            }
        })
        .collect();
    let report = Report { format: 1, totals, files };
    serde_json::to_string_pretty(&report).expect("a report is always JSON") + "\n"
}
