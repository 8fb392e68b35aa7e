//! Whether a target does the same twice.

use crate::{
    error::ExecutorError,
    executor::{Execution, Executor},
};
use cairn_model::{Input, outcome::Comparison};

/// Two runs of one input.
#[derive(Clone, Debug)]
pub struct Stability {
    /// The first run.
    pub first: Execution,
    /// The second run.
    pub second: Execution,
    /// Parts that differ, by name: parts of the outcome (`stdout`, `file out.txt`), `coverage`, `path`.
    pub unstable: Vec<String>,
    /// Parts that were cut off and are equal as far as they were kept.
    pub unknown: Vec<String>,
}

impl Stability {
    /// One run, as if another had done the same.
    pub(crate) fn presumed(run: Execution) -> Self {
        Self { second: run.clone(), first: run, unstable: Vec::new(), unknown: Vec::new() }
    }

    /// Whether nothing differs.
    pub fn is_stable(&self) -> bool {
        self.unstable.is_empty()
    }
}

impl Executor {
    /// Runs `input` twice and says which parts differ.
    pub fn run_twice(&mut self, input: &Input) -> Result<Stability, ExecutorError> {
        let first = self.run(input)?;
        let second = self.run(input)?;
        let (mut unstable, unknown) = match first.outcome.compare(&second.outcome) {
            Comparison::Same => (Vec::new(), Vec::new()),
            Comparison::Different(parts) => (parts, Vec::new()),
            Comparison::Unknown(parts) => (Vec::new(), parts),
        };
        // Counters saturate and wrap; what counts is which were hit.
        let hit = |execution: &Execution| {
            execution.counters.iter().map(|counter| *counter != 0).collect::<Vec<_>>()
        };
        if hit(&first) != hit(&second) {
            unstable.push("coverage".into());
        }
        if first.path_hash != second.path_hash {
            unstable.push("path".into());
        }
        Ok(Stability { first, second, unstable, unknown })
    }
}
