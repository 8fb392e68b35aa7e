//! What the difference between two arms is worth.

use crate::{
    cell::{CellResult, FailedRun},
    statistics::{a12, mann_whitney, median},
};
use std::collections::BTreeMap;

/// Below this, a difference is not put down to chance.
const SIGNIFICANT: f64 = 0.05;

/// All results, by target and arm, in the order they were made.
#[derive(Clone, Debug, Default)]
pub struct Results {
    cells: BTreeMap<String, Vec<ArmResults>>,
    failed: Vec<FailedRun>,
}

/// What runs of one arm on one target came to; nothing if all of them failed.
#[derive(Clone, Debug, Default)]
struct ArmResults {
    arm: String,
    cells: Vec<CellResult>,
    /// Which repetition each of them is.
    repetitions: Vec<u32>,
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
    pub fn add(&mut self, target: &str, arm: &str, repetition: u32, result: CellResult) {
        let of_arm = self.of_arm(target, arm);
        of_arm.cells.push(result);
        of_arm.repetitions.push(repetition);
    }

    /// Notes a run that left nothing. Its arm keeps its place among the others.
    pub fn fail(&mut self, failed: FailedRun) {
        self.of_arm(&failed.target, &failed.arm);
        self.failed.push(failed);
    }

    /// Runs that left nothing, in the order they were made.
    pub fn failed(&self) -> &[FailedRun] {
        &self.failed
    }

    /// Results by target and arm, of arms that have any.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, &[CellResult])> {
        self.measured().map(|(target, of_arm)| (target, of_arm.arm.as_str(), of_arm.cells.as_slice()))
    }

    /// Every result with its target, arm and repetition.
    pub fn runs(&self) -> impl Iterator<Item = (&str, &str, u32, &CellResult)> {
        self.measured().flat_map(|(target, of_arm)| {
            let runs = of_arm.repetitions.iter().zip(&of_arm.cells);
            runs.map(move |(repetition, cell)| (target, of_arm.arm.as_str(), *repetition, cell))
        })
    }

    fn measured(&self) -> impl Iterator<Item = (&str, &ArmResults)> {
        let all =
            self.cells.iter().flat_map(|(target, arms)| arms.iter().map(move |arm| (target.as_str(), arm)));
        all.filter(|(_, of_arm)| !of_arm.cells.is_empty())
    }

    fn of_arm(&mut self, target: &str, arm: &str) -> &mut ArmResults {
        let arms = self.cells.entry(target.to_string()).or_default();
        let place = arms.iter().position(|of_arm| of_arm.arm == arm).unwrap_or(arms.len());
        if place == arms.len() {
            arms.push(ArmResults { arm: arm.to_string(), ..ArmResults::default() });
        }
        &mut arms[place]
    }

    /// The first arm against each of the others, on every target where both left something.
    pub fn comparisons(&self) -> Vec<Comparison> {
        let mut comparisons = Vec::new();
        for (target, arms) in &self.cells {
            let Some((first, others)) = arms.split_first() else { continue };
            for other in others.iter().filter(|other| !first.cells.is_empty() && !other.cells.is_empty()) {
                let reached = |results: &[CellResult]| {
                    results.iter().map(|result| result.reached() as f64).collect::<Vec<_>>()
                };
                let (ours, theirs) = (reached(&first.cells), reached(&other.cells));
                comparisons.push(Comparison {
                    target: target.clone(),
                    arms: [first.arm.clone(), other.arm.clone()],
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
