//! Checked, not trusted: what a session says against what fresh processes say.

use super::{Ran, Session, Wants};
use crate::{error::ExecutorError, executor::Execution};
use cairn_model::{Input, outcome::Comparison};
use std::collections::BTreeMap;

/// What comparing a session with fresh processes gave.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// Inputs compared, each in two orders.
    pub n_inputs: usize,
    /// Inputs that need a process of their own, by reason.
    pub needs_fork: BTreeMap<String, usize>,
    /// Inputs whose fresh runs differ from each other; they prove nothing.
    pub n_unstable: usize,
    /// Inputs whose runs in the session differ from fresh ones: their positions, and the parts that differ.
    pub differences: Vec<(usize, Vec<String>)>,
}

impl Verification {
    /// Inputs whose runs were all made in the session.
    pub fn n_live(&self) -> usize {
        self.n_inputs - self.needs_fork.values().sum::<usize>()
    }
}

impl Session {
    /// Runs `inputs` in the session, forwards and then backwards, and compares each run with a fresh process: the
    /// content of the outcome and every counter.
    pub fn verify(&mut self, inputs: &[Input]) -> Result<Verification, ExecutorError> {
        let mut verification = Verification { n_inputs: inputs.len(), ..Verification::default() };
        let backwards: Vec<Input> = inputs.iter().rev().cloned().collect();
        let there = self.run_batch(inputs, Wants::EVERYTHING)?;
        let mut back = self.run_batch(&backwards, Wants::EVERYTHING)?;
        back.reverse();
        for (index, (input, runs)) in inputs.iter().zip(there.iter().zip(&back)).enumerate() {
            let runs = [runs.0, runs.1];
            if let Some(Ran::Fresh { why }) = runs.iter().map(|run| &run.ran).find(|ran| **ran != Ran::Live) {
                *verification.needs_fork.entry(why.to_string()).or_default() += 1;
                continue;
            }
            let fresh = self.run_fresh(input)?;
            let Some(parts) = runs.iter().find_map(|run| difference(&run.execution, &fresh)) else {
                continue;
            };
            let again = self.run_fresh(input)?;
            match difference(&fresh, &again) {
                Some(_) => verification.n_unstable += 1,
                None => verification.differences.push((index, parts)),
            }
        }
        Ok(verification)
    }
}

/// The parts in which two runs differ, by name.
fn difference(one: &Execution, other: &Execution) -> Option<Vec<String>> {
    let mut parts = match one.outcome.compare(&other.outcome) {
        Comparison::Different(parts) => parts,
        Comparison::Same | Comparison::Unknown(_) => Vec::new(),
    };
    if one.counters != other.counters {
        parts.push("coverage".into());
    }
    (!parts.is_empty()).then_some(parts)
}
