//! Takes the templates of candidates.

use crate::{criterion::Criterion, elements::Elements};
use cairn_executor::{ExecutorError, Session, Wants};
use cairn_fuzz::{Mutants, MutantsConfig, ShareConfig};
use cairn_model::{Ending, Input, ProgramMap};
use cairn_strategy::{Seen, TargetViews};
use std::thread;

/// Finds out what candidates cover.
pub struct Measure {
    criterion: Criterion,
    elements: Elements,
    runner: Runner,
    n_runs: u64,
}

/// What is known of a candidate that was run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What it covers.
    pub elements: Vec<u32>,
    /// How it ended.
    pub ending: Ending,
    /// Counters of the plain view that a failing one hit.
    pub hits: Vec<(u32, u8)>,
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

impl Runner {
    /// What a criterion needs of a target; an error is the view that it lacks.
    pub fn of(
        criterion: Criterion,
        target: &dyn TargetViews,
    ) -> Result<Result<Self, &'static str>, ExecutorError> {
        Ok(match criterion {
            Criterion::None | Criterion::Decision | Criterion::Condition => Ok(Self::None),
            Criterion::Path => {
                target.basic_paths()?.map(|session| Self::Paths(Box::new(session))).ok_or("basic-path view")
            }
            Criterion::DecisionKills => {
                let judge = target.mutant_judge()?.zip(target.mutants());
                let config = MutantsConfig { share: ShareConfig::Everything, ..MutantsConfig::default() };
                let mutants = judge.map(|(judge, counted)| Mutants::new(judge, counted, config));
                mutants.map(|mutants| Self::Mutants(Box::new(mutants))).ok_or("mutant view")
            }
        })
    }
}

impl Measure {
    /// By a criterion; `runner` is what it needs.
    pub fn new(map: &ProgramMap, criterion: Criterion, runner: Runner) -> Self {
        Self { criterion, elements: Elements::new(map, criterion), runner, n_runs: 0 }
    }

    /// The criterion.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// What is counted.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// Runs that were made to find out what runs of the plain view do not tell: of the basic-path view, and of mutants.
    pub fn n_runs(&self) -> u64 {
        match &self.runner {
            Runner::None | Runner::Paths(_) => self.n_runs,
            Runner::Mutants(mutants) => mutants.counts().n_runs,
        }
    }

    /// What a candidate covers whose run left these counters of the plain view. Of mutants those count that no candidate before has killed.
    pub fn of(&mut self, input: &Input, counters: &[u8]) -> Result<Vec<u32>, ExecutorError> {
        Ok(match &mut self.runner {
            Runner::None => self.elements.of(counters, &[]),
            Runner::Paths(session) => {
                self.n_runs += 1;
                let runs = session.run_batch(std::slice::from_ref(input), Wants::COUNTERS)?;
                let taken = runs.first().map_or(&[][..], |run| &run.execution.counters);
                self.elements.of(counters, taken)
            }
            Runner::Mutants(mutants) => {
                let mut elements = self.elements.of(counters, &[]);
                elements.extend(mutants.kills(input)?.into_iter().map(|mutant| self.elements.kill(mutant)));
                elements.sort_unstable();
                elements
            }
        })
    }

    /// What candidates cover that nobody has run yet, by the plain view in `plain`.
    pub fn of_all(&mut self, plain: &mut Session, inputs: &[Input]) -> Result<Vec<Measured>, ExecutorError> {
        let (taken, runs) = match &mut self.runner {
            Runner::Paths(session) => at_once(
                || session.run_batch(inputs, Wants::COUNTERS),
                || plain.run_batch(inputs, Wants::COUNTERS),
            ),
            Runner::None | Runner::Mutants(_) => (Ok(Vec::new()), plain.run_batch(inputs, Wants::COUNTERS)),
        };
        let (taken, runs) = (taken?, runs?);
        let mut measured = Vec::with_capacity(inputs.len());
        for (index, (input, run)) in inputs.iter().zip(runs).enumerate() {
            let counters = &run.execution.counters;
            let taken = taken.get(index).map_or(&[][..], |run| &run.execution.counters);
            let ending = run.execution.outcome.ending;
            let is_failure = ending.is_failure();
            let elements = match &self.runner {
                _ if is_failure => Vec::new(),
                Runner::Mutants(_) => self.of(input, counters)?,
                Runner::None | Runner::Paths(_) => self.elements.of(counters, taken),
            };
            let hits = if is_failure { Seen::hits(counters) } else { Vec::new() };
            measured.push(Measured { elements, ending, hits });
        }
        Ok(measured)
    }
}

/// What comes of two things that are done at once, the first of them in a thread of its own.
pub fn at_once<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    })
}
