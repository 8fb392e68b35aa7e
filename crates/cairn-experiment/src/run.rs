//! An experiment from beginning to end.

use crate::{
    cell::{Cell, CellResult, FailedRun, Ran},
    comparison::Results,
    coverage::Tools,
    description::Experiment,
    error::ExperimentError,
};
use cairn_executor::RunConfig;
use std::path::Path;

/// What is going on.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// An arm is run.
    Running {
        /// Which.
        arm: &'a str,
        /// On what.
        target: &'a str,
        /// For which time.
        repetition: u32,
        /// How many are behind us, and how many there are.
        done: (usize, usize),
    },
    /// It was run and measured.
    Measured {
        /// Which.
        arm: &'a str,
        /// On what.
        target: &'a str,
        /// What it came to.
        result: &'a CellResult,
    },
    /// It was run and left nothing that could be measured.
    Failed(&'a FailedRun),
}

/// Carries out what is missing of an experiment in `folder`, repetition by repetition, so that what there is can be compared
/// at any moment. Ends early when `is_stopped` says so; a run that leaves nothing is noted, and the others are carried out.
pub fn run(
    experiment: &Experiment,
    folder: &Path,
    tools: &Tools,
    limits: &RunConfig,
    core: Option<usize>,
    is_stopped: &dyn Fn() -> bool,
    mut progress: impl FnMut(&Progress<'_>),
) -> Result<Results, ExperimentError> {
    let mut results = Results::default();
    let cells: Vec<_> = (1..=experiment.repetitions)
        .flat_map(|repetition| experiment.targets.iter().map(move |target| (repetition, target)))
        .flat_map(|(repetition, target)| experiment.arms.iter().map(move |arm| (repetition, target, arm)))
        .filter(|(_, target, arm)| !arm.not_on.contains(&target.name))
        .collect();
    for (index, (repetition, target, arm)) in cells.iter().enumerate() {
        let place = folder.join(&target.name).join(&arm.name).join(repetition.to_string());
        let cell = Cell { experiment, arm, target, repetition: *repetition, folder: place, core };
        let (arm, target) = (arm.name.as_str(), target.name.as_str());
        let result = match cell.earlier() {
            Some(result) => result,
            None if is_stopped() => break,
            None => {
                let done = (index, cells.len());
                progress(&Progress::Running { arm, target, repetition: *repetition, done });
                match cell.run(tools, limits, is_stopped)? {
                    Some(Ran::Measured(result)) => {
                        progress(&Progress::Measured { arm, target, result: &result });
                        result
                    }
                    Some(Ran::Failed(failed)) => {
                        progress(&Progress::Failed(&failed));
                        results.fail(failed);
                        continue;
                    }
                    None => break,
                }
            }
        };
        results.add(target, arm, *repetition, result);
    }
    Ok(results)
}
