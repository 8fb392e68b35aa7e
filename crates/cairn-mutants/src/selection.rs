//! Which mutants to run.
//!
//! Filters come first, each on its own; then sampling thins out what is left. Sampling ranks mutants by a hash of their
//! stable id and the seed, so adding or removing one mutant does not reshuffle the others.

mod unified_diff;

pub use self::unified_diff::{ChangedLines, DiffError};

use crate::catalogue::OperatorSet;
use cairn_model::{
    MutantId, PatchId, StableId,
    map::{ProgramMap, Site},
    mutants::{Mutant, MutantTable},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

/// What to select. An empty list selects everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Mutants of these operators.
    pub operators: Option<OperatorSet>,
    /// Mutants in these files: a path, the end of one, or a folder.
    pub files: Vec<String>,
    /// Mutants in these functions, by name.
    pub functions: Vec<String>,
    /// Mutants on these lines.
    pub lines: Vec<Lines>,
    /// Mutants on lines that a change adds.
    pub diff: Option<ChangedLines>,
    /// Mutants at these patches: those that some input reaches.
    pub reached: Option<BTreeSet<PatchId>>,
    /// These mutants.
    pub mutants: BTreeSet<MutantId>,
    /// At most this many on a line.
    pub per_line: Option<usize>,
    /// At most this many.
    pub total: Option<usize>,
    /// Chooses the sample.
    pub seed: u64,
}

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The file: its path, or the end of it.
    pub path: String,
    /// The lines, from 1.
    pub lines: RangeInclusive<u32>,
}

/// Why nothing is selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// There is nothing to select from.
    #[error("no mutants were built with the operators `{set}`")]
    NoMutants {
        /// The operators of the build.
        set: String,
    },
    /// A filter matches nothing that the filters before it left.
    #[error("none of {before} mutants {filter}")]
    NothingLeft {
        /// The filter, as the end of the sentence.
        filter: String,
        /// What there was before.
        before: usize,
    },
}

impl Selection {
    /// The selected mutants, by id.
    pub fn select(&self, map: &ProgramMap, table: &MutantTable) -> Result<Vec<MutantId>, SelectionError> {
        if table.mutants.is_empty() {
            return Err(SelectionError::NoMutants { set: table.set.clone() });
        }
        let mut selected: Vec<MutantId> = table.mutants_with_ids().map(|(id, _)| id).collect();
        let facts = |id: MutantId| Facts::of(map, table, id);
        let mut filter = |description: String, keeps: &dyn Fn(&Facts<'_>) -> bool| {
            let before = selected.len();
            selected.retain(|id| keeps(&facts(*id)));
            match selected.is_empty() {
                true => Err(SelectionError::NothingLeft { filter: description, before }),
                false => Ok(()),
            }
        };
        if !self.mutants.is_empty() {
            filter("has one of the ids".to_owned(), &|facts| self.mutants.contains(&facts.id))?;
        }
        if let Some(operators) = &self.operators {
            filter(format!("is of the operators `{}`", operators.name), &|facts| {
                operators.contains(&facts.mutant.operator)
            })?;
        }
        if !self.files.is_empty() {
            filter(format!("is in {}", quoted(&self.files)), &|facts| {
                self.files.iter().any(|file| is_in(facts.path, file))
            })?;
        }
        if !self.functions.is_empty() {
            filter(format!("is in {}", quoted(&self.functions)), &|facts| {
                self.functions.iter().any(|name| name == facts.function || name == facts.symbol)
            })?;
        }
        if !self.lines.is_empty() {
            filter(
                format!("is on {}", quoted(&self.lines.iter().map(show).collect::<Vec<_>>())),
                &|facts| {
                    self.lines
                        .iter()
                        .any(|lines| is_same_file(facts.path, &lines.path) && facts.touches(&lines.lines))
                },
            )?;
        }
        if let Some(diff) = &self.diff {
            filter("is on a line that the diff adds".to_owned(), &|facts| {
                let mut ranges = diff
                    .iter()
                    .filter(|(path, _)| is_same_file(facts.path, path))
                    .flat_map(|(_, lines)| lines);
                ranges.any(|lines| facts.touches(lines))
            })?;
        }
        if let Some(reached) = &self.reached {
            filter("is reached".to_owned(), &|facts| reached.contains(&facts.mutant.patch))?;
        }
        Ok(self.sample(map, table, selected))
    }

    fn sample(&self, map: &ProgramMap, table: &MutantTable, mut selected: Vec<MutantId>) -> Vec<MutantId> {
        let rank = |id: &MutantId| {
            let stable_id = table.mutants[id.index()].stable_id;
            (StableId::from_key(&["sample", &stable_id.to_string(), &self.seed.to_string()]), stable_id, *id)
        };
        if let Some(per_line) = self.per_line {
            let mut by_line: BTreeMap<(u32, u32), Vec<MutantId>> = BTreeMap::new();
            for id in selected {
                let start = map.sites[table.patch_of(id).site.index()].extent.start;
                by_line.entry((start.file, start.line)).or_default().push(id);
            }
            selected = by_line.into_values().flat_map(|line| first(line, per_line, rank)).collect();
        }
        if let Some(total) = self.total {
            selected = first(selected, total, rank);
        }
        selected.sort_unstable();
        selected
    }
}

/// The first `most` by rank.
fn first<R: Ord>(mut ids: Vec<MutantId>, most: usize, rank: impl Fn(&MutantId) -> R) -> Vec<MutantId> {
    if ids.len() > most {
        ids.sort_by_cached_key(rank);
        ids.truncate(most);
    }
    ids
}

/// What filters ask about a mutant.
struct Facts<'a> {
    id: MutantId,
    mutant: &'a Mutant,
    site: &'a Site,
    path: &'a str,
    function: &'a str,
    symbol: &'a str,
}

impl<'a> Facts<'a> {
    fn of(map: &'a ProgramMap, table: &'a MutantTable, id: MutantId) -> Self {
        let mutant = &table.mutants[id.index()];
        let site = &map.sites[table.patch_of(id).site.index()];
        let function = &map.functions[site.function.index()];
        let path = map.files.get(site.extent.start.file as usize).map_or("", |file| file.path.as_str());
        Self { id, mutant, site, path, function: &function.name, symbol: &function.symbol }
    }

    fn touches(&self, lines: &RangeInclusive<u32>) -> bool {
        self.site.extent.start.line <= *lines.end() && *lines.start() <= self.site.extent.end.line
    }
}

/// Whether a path is the file, or lies in the folder, that a person names.
fn is_in(path: &str, name: &str) -> bool {
    let name = name.strip_prefix("./").unwrap_or(name);
    let folder = name.trim_end_matches('/');
    is_same_file(path, name)
        || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        || path.contains(&format!("/{folder}/"))
}

/// Whether two paths end alike: one may be relative to a folder further up.
fn is_same_file(left: &str, right: &str) -> bool {
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    ends_with(left, right) || ends_with(right, left)
}

fn show(lines: &Lines) -> String {
    match lines.lines.start() == lines.lines.end() {
        true => format!("{}:{}", lines.path, lines.lines.start()),
        false => format!("{}:{}-{}", lines.path, lines.lines.start(), lines.lines.end()),
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests;
