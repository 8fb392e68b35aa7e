//! Takes the templates of candidates.

use crate::{criterion::Criterion, elements::Elements};
use cairn_executor::{ExecutorError, Session, WantedCounters, Wants};
use cairn_fuzz::Mutants;
use cairn_model::{Ending, Input, ProgramMap};

/// Finds out what candidates cover.
pub struct Measure {
    criterion: Criterion,
    elements: Elements,
    runner: Runner,
}

/// What tells what a candidate covers, besides the counters of the plain view.
pub enum Runner {
    /// Nothing else.
    None,
    /// The basic-path view.
    Paths(Box<Session>),
    /// The mutant view.
    Mutants(Box<Mutants>),
}

const COUNTERS: Wants = Wants { counters: WantedCounters::Always, output: false };

impl Measure {
    /// By a criterion; `runner` is what it needs.
    pub fn new(map: &ProgramMap, criterion: Criterion, runner: Runner) -> Self {
        Self { criterion, elements: Elements::new(map, criterion), runner }
    }

    /// The criterion.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// What is counted.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// What a candidate covers whose run left these counters of the plain view. Of mutants those count that no candidate before has killed.
    pub fn of(&mut self, input: &Input, counters: &[u8]) -> Result<Vec<u32>, ExecutorError> {
        Ok(match &mut self.runner {
            Runner::None => self.elements.of(counters),
            Runner::Paths(session) => {
                let runs = session.run_batch(std::slice::from_ref(input), COUNTERS)?;
                runs.first().map_or_else(Vec::new, |run| self.elements.of(&run.execution.counters))
            }
            Runner::Mutants(mutants) => {
                let mut elements = self.elements.of(counters);
                elements.extend(mutants.kills(input)?.into_iter().map(|mutant| self.elements.kill(mutant)));
                elements.sort_unstable();
                elements
            }
        })
    }

    /// What candidates cover that nobody has run yet, by the plain view in `plain`, and how each ends.
    pub fn of_all(
        &mut self,
        plain: &mut Session,
        inputs: &[Input],
    ) -> Result<Vec<(Vec<u32>, Ending)>, ExecutorError> {
        // One run tells everything.
        let session = match &mut self.runner {
            Runner::Paths(session) => session,
            Runner::None | Runner::Mutants(_) => plain,
        };
        let runs = session.run_batch(inputs, COUNTERS)?;
        let mut measured = Vec::with_capacity(inputs.len());
        for (input, run) in inputs.iter().zip(runs) {
            let counters = &run.execution.counters;
            let elements = match &self.runner {
                Runner::Mutants(_) => self.of(input, counters)?,
                Runner::None | Runner::Paths(_) => self.elements.of(counters),
            };
            measured.push((elements, run.execution.outcome.ending));
        }
        Ok(measured)
    }
}
