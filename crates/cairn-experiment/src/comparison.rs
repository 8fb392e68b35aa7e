//! What the difference between two arms is worth.

use crate::{
    cell::CellResult,
    statistics::{a12, mann_whitney, median},
};
use std::collections::BTreeMap;

/// Below this, a difference is not put down to chance.
const SIGNIFICANT: f64 = 0.05;

/// All results, by target and arm, in the order they were made.
#[derive(Clone, Debug, Default)]
pub struct Results {
    cells: BTreeMap<String, Vec<(String, Vec<CellResult>)>>,
}

/// Two arms on one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The target.
    pub target: String,
    /// The arms: the one of interest, and the one it is compared with.
    pub arms: [String; 2],
    /// Branches each reached, in the middle.
    pub medians: [f64; 2],
    /// The chance that the first reaches more (Â12).
    pub a12: f64,
    /// The chance of such a difference where there is none.
    pub p: f64,
    /// Repetitions of each.
    pub n: [usize; 2],
}

impl Results {
    /// Adds one.
    pub fn add(&mut self, target: &str, arm: &str, result: CellResult) {
        let arms = self.cells.entry(target.to_string()).or_default();
        match arms.iter_mut().find(|(name, _)| name == arm) {
            Some((_, results)) => results.push(result),
            None => arms.push((arm.to_string(), vec![result])),
        }
    }

    /// Results by target and arm.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &[CellResult])> {
        self.cells.iter().flat_map(|(target, arms)| {
            arms.iter().map(move |(arm, results)| (target.as_str(), arm.as_str(), results.as_slice()))
        })
    }

    /// The first arm against each of the others, on every target.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let mut comparisons = Vec::new();
        for (target, arms) in &self.cells {
            let Some(((first, ours), others)) = arms.split_first() else { continue };
            for (other, theirs) in others {
                let reached = |results: &[CellResult]| {
                    results.iter().map(|result| result.reached() as f64).collect::<Vec<_>>()
                };
                let (ours, theirs) = (reached(ours), reached(theirs));
                comparisons.push(Comparison {
                    target: target.clone(),
                    arms: [first.clone(), other.clone()],
                    medians: [median(&ours), median(&theirs)],
                    a12: a12(&ours, &theirs),
                    p: mann_whitney(&ours, &theirs),
                    n: [ours.len(), theirs.len()],
                });
            }
        }
        comparisons
    }
}

impl Comparison {
    /// What it says, in a word.
    pub fn verdict(&self) -> &'static str {
        let is_clear = self.p < SIGNIFICANT;
        match self.medians[0].total_cmp(&self.medians[1]) {
            std::cmp::Ordering::Greater if is_clear => "ahead",
            std::cmp::Ordering::Less if is_clear => "behind",
            std::cmp::Ordering::Greater => "ahead, perhaps by chance",
            std::cmp::Ordering::Less => "behind, perhaps by chance",
            std::cmp::Ordering::Equal => "equal",
        }
    }
}
