//! What a set of inputs is worth, in numbers.

use super::{MutantSet, fate::Fate, matrix::KillMatrix};
use cairn_model::{MutantTable, mutants::DropReason};
use std::collections::BTreeMap;

/// Counts of mutants, and the share that was killed.
///
/// Mutants that were not selected, that were dropped when the view was built, that are layout-dependent or undecided,
/// or for which inputs are left, are in no share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Mutants the operators made, dropped ones included.
    pub n_generated: usize,
    /// Those that are not in the view.
    pub dropped: Dropped,
    /// Mutants that were asked about.
    pub n_selected: usize,
    /// No input executes their place.
    pub n_not_reached: usize,
    /// Some input executes their place, whatever came of it.
    pub n_reached: usize,
    /// Their value differs on some input, whatever came of it.
    pub n_infected: usize,
    /// Killed, by [`KillReason::name`](cairn_model::KillReason::name).
    pub killed: BTreeMap<&'static str, usize>,
    /// Reached, and the value never differs.
    pub n_never_infected: usize,
    /// Infected, and nobody notices.
    pub n_unnoticed: usize,
    /// Never scored.
    pub n_layout_dependent: usize,
    /// Could not be told.
    pub n_undecided: usize,
    /// Not finished: inputs are left that may kill them.
    pub n_pending: usize,
}

/// Mutants that were made and are not in the view, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Optimise to the original's code.
    pub n_equivalent: usize,
    /// Optimise to another mutant's code.
    pub n_duplicate: usize,
    /// Are no valid code.
    pub n_invalid: usize,
}

impl Dropped {
    /// Counts what a table lacks.
    pub fn of(table: &MutantTable) -> Self {
        let mut dropped = Self::default();
        for mutant in &table.dropped {
            match mutant.reason {
                DropReason::Equivalent => dropped.n_equivalent += 1,
                DropReason::Duplicate(_) => dropped.n_duplicate += 1,
                DropReason::Invalid => dropped.n_invalid += 1,
            }
        }
        dropped
    }

    /// All of them.
    pub fn total(self) -> usize {
        self.n_equivalent + self.n_duplicate + self.n_invalid
    }
}

impl Score {
    /// The score of the `selected` mutants of `table`.
    pub fn new(table: &MutantTable, selected: &MutantSet, matrix: &KillMatrix) -> Self {
        let dropped = Dropped::of(table);
        let mut score = Self {
            n_generated: table.mutants.len() + dropped.total(),
            dropped,
            n_selected: selected.len(),
            ..Self::default()
        };
        let (mut reached, mut infected) = (MutantSet::default(), MutantSet::default());
        for (_, row) in matrix.rows() {
            reached.extend(row.reached.iter().filter(|mutant| selected.contains(*mutant)));
            infected.extend(row.infected.iter().filter(|mutant| selected.contains(*mutant)));
        }
        score.n_reached = reached.len();
        score.n_infected = infected.len();
        let fates = matrix.fates(table.mutants.len());
        for mutant in selected.iter() {
            match fates[mutant.index()] {
                Fate::NotReached => score.n_not_reached += 1,
                Fate::Reached => score.n_never_infected += 1,
                Fate::Infected => score.n_unnoticed += 1,
                Fate::Undecided => score.n_undecided += 1,
                Fate::LayoutDependent => score.n_layout_dependent += 1,
                Fate::Pending => score.n_pending += 1,
                Fate::Killed { reason, .. } => *score.killed.entry(reason.name()).or_default() += 1,
            }
        }
        score
    }

    /// Killed for any reason.
    pub fn n_killed(&self) -> usize {
        self.killed.values().sum()
    }

    /// Reached and not killed.
    pub fn n_survived(&self) -> usize {
        self.n_never_infected + self.n_unnoticed
    }

    /// Killed of all that were decided, in percent; `None` if none was.
    pub fn percent_of_all(&self) -> Option<f64> {
        percent(self.n_killed(), self.n_killed() + self.n_survived() + self.n_not_reached)
    }

    /// Killed of those that were reached and decided, in percent; `None` if none was.
    pub fn percent_of_reached(&self) -> Option<f64> {
        percent(self.n_killed(), self.n_killed() + self.n_survived())
    }
}

fn percent(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}
