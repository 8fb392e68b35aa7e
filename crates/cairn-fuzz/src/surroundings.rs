//! What surrounds the loop.

use crate::{mutants::Mutants, queue::Seed};
use cairn_executor::{ExecutorError, Session, SymbolicRun};
use cairn_model::{Input, ProgramMap};
use cairn_strategy::Sample;
use std::time::Duration;

/// What a [`FuzzLoop`](crate::FuzzLoop) is used for: what it runs, what seeds are worth, and when it stops.
pub trait Surroundings {
    /// What is known about the program.
    fn map(&self) -> &ProgramMap;

    /// Runs inputs: the plain view, or any other with its counters. What its baseline has is not new.
    fn session(&mut self) -> &mut Session;

    /// Bytes an input may have in all its regions.
    fn max_size(&self) -> usize;

    /// How many inputs may be tried next, after so much was done since the loop was started; 0 to stop. Asked before
    /// every batch.
    fn allowance(&mut self, done: &Done) -> u64;

    /// How much a seed is worth: 1 is usual, and twice as much is chosen twice as often.
    fn score(&self, _seed: &Seed) -> f64 {
        1.0
    }

    /// How long a run of a batch may take before it is given up, unless it is new and its time in the session is longer.
    fn backstop(&self) -> Option<Duration> {
        None
    }

    /// Runs an input in the symbolic view, if there is one.
    fn trace(&mut self, _input: &Input) -> Result<Option<SymbolicRun>, ExecutorError> {
        Ok(None)
    }

    /// Runs mutants on inputs, where that is a reason to keep them.
    fn mutants(&mut self) -> Option<&mut Mutants> {
        None
    }

    /// Where samples of what is run are handed over, if somebody looks at them.
    fn samples(&mut self) -> Option<&mut Vec<Sample>> {
        None
    }

    /// Time that has passed, where time is limited. Otherwise nothing, so that decisions do not depend on it.
    fn clock(&self) -> Option<Duration> {
        None
    }
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Inputs tried.
    pub inputs: u64,
    /// Runs of the target, symbolic ones included.
    pub target_runs: u64,
    /// Runs with a mutant active.
    pub mutant_runs: u64,
    /// Time that went to mutants.
    pub on_mutants: Duration,
    /// Candidates found.
    pub candidates: u64,
}
