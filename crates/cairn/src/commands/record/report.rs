//! What a recording tells at its end.

use crate::{place::Fate, screen::count};
use cairn_recorder::journal::Tally;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::ExitStatus,
};

/// Everything known at the end.
pub struct Report<'a> {
    pub program: &'a Path,
    pub into: &'a Path,
    pub command: String,
    pub status: ExitStatus,
    pub was_there: &'a BTreeSet<String>,
    pub tally: Tally,
    /// `None` when the program never left its place.
    pub fate: Option<Fate>,
}

#[derive(Serialize)]
struct Json<'a> {
    format: u32,
    program: String,
    into: String,
    suite: Suite<'a>,
    calls: usize,
    kept: usize,
    new: usize,
    left_out: &'a BTreeMap<String, usize>,
    unfinished: usize,
    notes: &'a BTreeMap<String, usize>,
    program_was_replaced: bool,
}

#[derive(Serialize)]
struct Suite<'a> {
    command: &'a str,
    passed: bool,
    status: String,
}

impl Report<'_> {
    fn n_new(&self) -> usize {
        self.tally.kept.difference(self.was_there).count()
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        let json = Json {
            format: 1,
            program: self.program.display().to_string(),
            into: self.into.display().to_string(),
            suite: Suite {
                command: &self.command,
                passed: self.status.success(),
                status: self.status.to_string(),
            },
            calls: self.tally.n_calls,
            kept: self.tally.kept.len(),
            new: self.n_new(),
            left_out: &self.tally.left_out,
            unfinished: self.tally.n_unfinished(),
            notes: &self.tally.notes,
            program_was_replaced: self.fate == Some(Fate::Replaced),
        };
        serde_json::to_string_pretty(&json).expect("a report is always JSON")
    }

    /// Rows for a person.
    pub fn text(&self) -> String {
        let mut lines = vec![
            format!("  program    {}", self.program.display()),
            format!("  suite      {} ({})", self.command, self.status),
            format!("  calls      {}", self.tally.n_calls),
            format!(
                "  kept       {} in {}, {} of them new",
                count(self.tally.kept.len(), "distinct input"),
                self.into.display(),
                self.n_new()
            ),
        ];
        for (reason, n) in &self.tally.left_out {
            lines.push(format!("  left out   {}: {reason}", count(*n, "call")));
        }
        if self.tally.n_unfinished() > 0 {
            let calls = count(self.tally.n_unfinished(), "call");
            lines.push(format!("  left out   {calls}: the recorder was killed before it had finished"));
        }
        for (note, n) in &self.tally.notes {
            lines.push(format!("  note       {}: {note}", count(*n, "input")));
        }
        lines.join("\n")
    }
}
