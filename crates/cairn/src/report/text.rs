//! Coverage as a table, then what is missing.

use super::{FileCoverage, Share, by_file};
use cairn_model::{Coverage, ProgramMap};
use std::fmt::Write;

/// How much a text report shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Files and totals.
    Files,
    /// Also every branch nobody took.
    Missing,
}

/// The report.
pub fn render(map: &ProgramMap, coverage: &Coverage, detail: Detail) -> String {
    let files = by_file(map, coverage);
    let rows: Vec<[String; 4]> =
        std::iter::once(["file", "lines", "branches", "functions"].map(String::from))
            .chain(files.iter().map(|(path, file)| row(path, file)))
            .chain(std::iter::once(totals(&files)))
            .collect();
    let mut text = table(&rows);
    if detail == Detail::Missing {
        text.push_str("\nbranches nobody took:\n");
        for (_, file) in &files {
            for (_, condition, taken) in &file.conditions {
                let missing: Vec<&str> = ["true", "false"]
                    .into_iter()
                    .zip(taken)
                    .filter(|(_, taken)| !**taken)
                    .map(|(direction, _)| direction)
                    .collect();
                if !missing.is_empty() {
                    let place = map.show(condition.extent.start);
                    let id = condition.stable_id;
                    let _ = writeln!(
                        text,
                        "  {place}: `{}` never {}  [{id}]",
                        condition.text,
                        missing.join(" nor ")
                    );
                }
            }
        }
    }
    text
}

fn cell(share: Share) -> String {
    match share.total {
        0 => format!("{share}       –"),
        _ => format!("{share}  {:5.1}%", share.percent()),
    }
}

fn row(name: &str, file: &FileCoverage) -> [String; 4] {
    [name.to_string(), cell(file.line_share()), cell(file.branch_share()), cell(file.function_share())]
}

fn totals(files: &[(&str, FileCoverage)]) -> [String; 4] {
    let sum = |shares: Vec<Share>| {
        shares
            .into_iter()
            .fold(Share::default(), |a, b| Share { covered: a.covered + b.covered, total: a.total + b.total })
    };
    [
        "total".to_string(),
        cell(sum(files.iter().map(|(_, file)| file.line_share()).collect())),
        cell(sum(files.iter().map(|(_, file)| file.branch_share()).collect())),
        cell(sum(files.iter().map(|(_, file)| file.function_share()).collect())),
    ]
}

/// The first column to the left, the others to the right.
fn table(rows: &[[String; 4]]) -> String {
    let widths: Vec<usize> =
        (0..4).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let _ = write!(text, "  {:<width$}", row[0], width = widths[0]);
        for column in 1..4 {
            let _ = write!(text, "  {:>width$}", row[column], width = widths[column]);
        }
        text.push('\n');
    }
    text
}
