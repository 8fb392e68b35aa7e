//! The fuel limit, learned from inputs that are known to end.

use super::{Session, Wants};
use crate::error::ExecutorError;
use cairn_model::{Ending, Input};

/// The fuel limit is so many times what the hungriest seed needs.
const FUEL_MARGIN: u64 = 10;

/// The least fuel limit: programs that do little on their seeds may do more on other inputs.
const LEAST_FUEL: u64 = 1_000_000;

/// What the seeds need, and the limit that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Steps a run may take from now on: ten times `most_used`, at least a million.
    pub limit: u64,
    /// Steps the hungriest seed took.
    pub most_used: u64,
    /// Seeds that ran out of time; they had no say.
    pub n_timed_out: usize,
}

/// Steps a run may take where the hungriest input that is known to end took `most_used`.
pub fn fuel_limit(most_used: u64) -> u64 {
    most_used.saturating_mul(FUEL_MARGIN).max(LEAST_FUEL)
}

impl Session {
    /// Runs `seeds` without a limit and sets the fuel so that none of them comes near it.
    pub fn calibrate(&mut self, seeds: &[Input]) -> Result<Calibration, ExecutorError> {
        self.set_fuel(0);
        let (mut most_used, mut n_timed_out) = (0, 0);
        for seeds in seeds.chunks(self.config.max_batch) {
            for run in self.run_batch(seeds, Wants::NOVELTY)? {
                match run.execution.outcome.ending {
                    Ending::TimedOut => n_timed_out += 1,
                    _ => most_used = most_used.max(run.execution.fuel_used),
                }
            }
        }
        let limit = fuel_limit(most_used);
        self.set_fuel(limit);
        Ok(Calibration { limit, most_used, n_timed_out })
    }
}
