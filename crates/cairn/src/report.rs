//! Coverage for people and programs.

pub mod beyond;
pub mod campaign;
pub mod functions;
pub mod html;
pub mod json;
pub mod lcov;
pub mod score;
pub mod text;

use cairn_model::{
    ConditionId, Coverage, ProgramMap,
    map::{Branch, Condition},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Covered of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// How many were covered.
    pub covered: usize,
    /// How many there are.
    pub total: usize,
}

impl Share {
    fn add(&mut self, is_covered: bool) {
        self.covered += usize::from(is_covered);
        self.total += 1;
    }

    /// In percent.
    pub fn percent(&self) -> f64 {
        if self.total == 0 { 100.0 } else { self.covered as f64 * 100.0 / self.total as f64 }
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} / {}", self.covered, self.total)
    }
}

/// The coverage of one file.
#[derive(Debug, Default)]
pub struct FileCoverage<'a> {
    /// Executed lines.
    pub lines: BTreeMap<u32, bool>,
    /// Conditions by place, with (true, false) taken.
    pub conditions: Vec<(ConditionId, &'a Condition, [bool; 2])>,
    /// Functions entered.
    pub functions: Vec<(&'a cairn_model::map::Function, bool)>,
}

impl FileCoverage<'_> {
    /// Lines.
    pub fn line_share(&self) -> Share {
        let mut share = Share::default();
        self.lines.values().for_each(|executed| share.add(*executed));
        share
    }

    /// Branch directions.
    pub fn branch_share(&self) -> Share {
        let mut share = Share::default();
        self.conditions.iter().flat_map(|(_, _, taken)| taken).for_each(|taken| share.add(*taken));
        share
    }

    /// Functions.
    pub fn function_share(&self) -> Share {
        let mut share = Share::default();
        self.functions.iter().for_each(|(_, entered)| share.add(*entered));
        share
    }
}

/// Coverage by file, in path order, functions in scope only.
pub fn by_file<'a>(map: &'a ProgramMap, coverage: &Coverage) -> Vec<(&'a str, FileCoverage<'a>)> {
    let mut files: BTreeMap<&str, FileCoverage> = BTreeMap::new();
    let path = |file: u32| map.files[file as usize].path.as_str();
    for ((file, line), executed) in coverage.lines(map) {
        files.entry(path(file)).or_default().lines.insert(line, executed);
    }
    let executed = coverage.executed_blocks(map);
    for function in map.functions.iter().filter(|function| function.in_scope) {
        let entered = executed[function.entry().index()];
        files.entry(path(function.place.file)).or_default().functions.push((function, entered));
    }
    for (id, condition) in map.conditions_with_ids() {
        let taken = [true, false].map(|direction| coverage.covers(map, Branch { condition: id, direction }));
        files.entry(path(condition.extent.start.file)).or_default().conditions.push((id, condition, taken));
    }
    for file in files.values_mut() {
        file.conditions.sort_by_key(|(id, condition, _)| (condition.extent.start, *id));
        file.functions.sort_by_key(|(function, _)| function.place);
    }
    files.into_iter().collect()
}
