//! What differs between what a program did and what it does.

use super::{
    diff,
    expected::{Expected, Recorded, is_stopped},
};
use crate::{
    commands::{
        cover::verb,
        score::{Compare, Setup},
    },
    failure::Failure,
};
use cairn_executor::{CompareCommand, CompareFunction, Compared, oracle::Oracle};
use cairn_model::{
    Ending, Outcome,
    outcome::{Captured, FileChange},
};
use serde::Serialize;
use std::collections::BTreeSet;

/// One part that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Which: `ending`, `stdout`, `file out.txt`.
    pub part: String,
    /// What was and what is, a line each.
    pub lines: Vec<String>,
}

/// Compares outcomes with what is expected.
pub struct Comparer {
    pub oracle: Oracle,
    /// Who decides whether main outputs that differ mean the same.
    judge: Option<Judge>,
}

/// Who compares main outputs.
enum Judge {
    Command(CompareCommand),
    Function(CompareFunction),
}

impl Comparer {
    /// As a suite or `cairn.toml` says; `function` readies the program's own `cairn_compare` if that is who decides.
    pub fn new(
        setup: &Setup,
        function: impl FnOnce() -> Result<CompareFunction, Failure>,
    ) -> Result<Self, Failure> {
        let judge = match &setup.compare {
            Some(Compare::Function) => Some(Judge::Function(function()?)),
            _ => setup.command()?.map(Judge::Command),
        };
        Ok(Self { oracle: setup.oracle, judge })
    }

    /// What differs, the most telling first.
    pub fn differences(
        &mut self,
        expected: &Expected,
        outcome: &Outcome,
    ) -> Result<Vec<Difference>, Failure> {
        let mut differences = Vec::new();
        if !self.same_ending(&expected.ending, &outcome.ending) {
            let line = format!("{}, now {}", verb(&expected.ending), verb(&outcome.ending));
            differences.push(Difference { part: "ending".into(), lines: vec![line] });
        }
        // What a program writes before it is stopped depends on when.
        if is_stopped(&outcome.ending) || is_stopped(&expected.ending) {
            return Ok(differences);
        }
        let is_harness = expected.harness_output.is_some();
        for (part, recorded, captured, is_main) in [
            ("stdout", &expected.stdout, &outcome.stdout, !is_harness),
            ("harness output", &expected.harness_output, &outcome.harness_output, true),
            ("stderr", &expected.stderr, &outcome.stderr, false),
        ] {
            let Some(recorded) = recorded else { continue };
            let is_same =
                is_same(recorded, captured) || is_main && self.means_the_same(recorded, captured)?;
            if !is_same {
                let lines = diff::lines(recorded.kept(), &captured.bytes.0);
                differences.push(Difference { part: part.into(), lines });
            }
        }
        if expected.harness_return.is_some() && expected.harness_return != outcome.harness_return {
            let shown = |value: Option<i32>| value.map_or("nothing".to_owned(), |value| value.to_string());
            let line = format!("{}, now {}", shown(expected.harness_return), shown(outcome.harness_return));
            differences.push(Difference { part: "harness return".into(), lines: vec![line] });
        }
        differences.extend(file_differences(expected, outcome));
        Ok(differences)
    }

    /// Whether two outputs that differ are the same to the user.
    pub fn means_the_same(&mut self, recorded: &Recorded, captured: &Captured) -> Result<bool, Failure> {
        let Some(judge) = &mut self.judge else { return Ok(false) };
        if !recorded.is_whole() || captured.is_truncated() {
            return Ok(false);
        }
        let (one, other) = (recorded.kept(), &captured.bytes.0);
        let (compared, hint) = match judge {
            Judge::Command(command) => (
                command.compare(one, other)?,
                "it must end with 0 for outputs that mean the same and with 1 for others",
            ),
            Judge::Function(function) => (
                function.compare(one, other)?,
                "`cairn_compare` must return 0 for outputs that mean the same and something else for others",
            ),
        };
        match compared {
            Compared::Same => Ok(true),
            Compared::Different => Ok(false),
            Compared::Failed(failure) => {
                Err(Failure::usage(format!("`oracle.compare` failed: {failure}")).hint(hint))
            }
        }
    }

    /// Whether two endings are the same, as far as endings count.
    pub fn same_ending(&self, expected: &Ending, ending: &Ending) -> bool {
        match (expected, ending) {
            (Ending::Exited { .. }, Ending::Exited { .. }) if !self.oracle.exit => true,
            // Both are hangs; which limit comes first depends on the machine.
            (Ending::TimedOut | Ending::OutOfFuel, Ending::TimedOut | Ending::OutOfFuel) => true,
            (expected, ending) => expected == ending,
        }
    }
}

/// Whether bytes are the recorded ones, as far as both were kept.
fn is_same(recorded: &Recorded, captured: &Captured) -> bool {
    let (one, other) = (recorded.kept(), captured.bytes.0.as_slice());
    match (recorded, captured.is_truncated()) {
        (Recorded::Whole(_), false) => one == other,
        _ => {
            let both = one.len().min(other.len());
            let total = match recorded {
                Recorded::Whole(bytes) => bytes.0.len() as u64,
                Recorded::Cut { total, .. } => *total,
            };
            one[..both] == other[..both] && total == captured.total
        }
    }
}

fn file_differences(expected: &Expected, outcome: &Outcome) -> Vec<Difference> {
    let Some(files) = &expected.files else { return Vec::new() };
    let paths: BTreeSet<&String> = files.keys().chain(outcome.files.keys()).collect();
    let mut differences = Vec::new();
    for path in paths {
        let part = format!("file {path}");
        if expected.is_unstable(&part) {
            continue;
        }
        let lines = match (files.get(path), outcome.files.get(path)) {
            (
                Some(FileChange::Written { content: one, mode }),
                Some(FileChange::Written { content: other, mode: other_mode }),
            ) => {
                let mut lines = Vec::new();
                if mode != other_mode {
                    lines.push(format!("mode {mode:04o}, now {other_mode:04o}"));
                }
                if !is_same(&one.into(), other) {
                    lines.extend(diff::lines(&one.bytes.0, &other.bytes.0));
                }
                lines
            }
            (one, other) if one == other => Vec::new(),
            (one, other) => vec![format!("{}, now {}", shown(one), shown(other))],
        };
        if !lines.is_empty() {
            differences.push(Difference { part, lines });
        }
    }
    differences
}

fn shown(change: Option<&FileChange>) -> String {
    match change {
        None => "untouched".into(),
        Some(FileChange::Written { content, .. }) => format!("written ({} bytes)", content.total),
        Some(FileChange::Folder) => "a folder".into(),
        Some(FileChange::Link { target }) => format!("a link to {target:?}"),
        Some(FileChange::Special { kind, .. }) => format!("a {kind}"),
        Some(FileChange::Removed) => "removed".into(),
    }
}
