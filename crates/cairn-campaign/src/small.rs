//! Makes an input small where the question is a dear one.

use crate::reduce::{ReduceConfig, Reduced, reduce};
use cairn_executor::{ExecutorError, Session, WantedCounters, Wants};
use cairn_model::{Ending, Input, Spent};
use cairn_strategy::Stop;
use std::cell::Cell;

/// The most inputs that are tried to make one smaller.
pub(crate) const MAX_QUESTIONS: u64 = 3_000;

/// The most of them that are asked about in fresh processes, which take a hundred times as long.
const MAX_DEAR_QUESTIONS: u64 = 300;

/// Runs that only have to end somehow.
pub(crate) const ENDING: Wants = Wants { counters: WantedCounters::Never, output: false };

/// Makes inputs small.
#[derive(Debug)]
pub(crate) struct Small<'a> {
    pub(crate) plain: &'a mut Session,
    /// The most inputs that are tried, if fewer than usual.
    pub(crate) max_questions: u64,
    /// When it is asked for, what is there by then is taken.
    pub(crate) stop: &'a Stop,
}

impl Small<'_> {
    /// Makes `input` small as long as `is_good` says so, which runs fresh processes. Whatever does not end in the live plain view
    /// as `fits` wants is not asked about. Runs of `is_good` are its own to count.
    pub(crate) fn make(
        self,
        input: &Input,
        fits: &dyn Fn(&Ending) -> bool,
        is_good: &mut dyn FnMut(&Input) -> Result<bool, ExecutorError>,
        spent: &mut Spent,
    ) -> Result<Reduced, ExecutorError> {
        let Self { plain, max_questions, stop } = self;
        let n_dear = Cell::new(0);
        let is_enough = || stop.is_asked() || n_dear.get() >= MAX_DEAR_QUESTIONS;
        let mut keeps = |inputs: &[Input]| -> Result<Vec<bool>, ExecutorError> {
            let mut answers = vec![false; inputs.len()];
            let runs = plain.run_batch(inputs, ENDING)?;
            for (index, run) in runs.iter().enumerate() {
                if !fits(&run.execution.outcome.ending) || is_enough() {
                    continue;
                }
                n_dear.set(n_dear.get() + 1);
                if is_good(&inputs[index])? {
                    // The first that is good is taken, so nobody asks about the others.
                    answers[index] = true;
                    break;
                }
            }
            Ok(answers)
        };
        let max_questions = max_questions.min(MAX_QUESTIONS);
        let config = ReduceConfig { max_questions, is_enough: &is_enough, ..ReduceConfig::default() };
        let reduced = reduce(input, config, &mut keeps)?;
        spent.target_runs += reduced.n_questions;
        Ok(reduced)
    }
}
