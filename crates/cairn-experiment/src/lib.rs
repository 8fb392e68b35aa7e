//! Compares ways to test.
//!
//! An [`Experiment`] names arms (commands that test something), targets and a limit that is the same for all. [`run`] carries
//! out every arm on every target several times and keeps each result in a folder of its own, so that an experiment which was
//! interrupted goes on where it stopped.
//!
//! What an arm reached is not what it says: all its inputs are run on one coverage build of the target, made by clang, the same
//! for all arms ([`coverage`]). [`Comparison`] then says what the difference between two arms is worth ([`statistics`]), and
//! [`report`] writes tables and a plot.
//!
//! This crate knows nothing of how any arm works.

mod cell;
mod comparison;
pub mod coverage;
mod description;
mod error;
mod process;
pub mod report;
mod run;
pub mod statistics;

pub use crate::{
    cell::{CellResult, Checkpoint, FailedRun},
    comparison::{Comparison, Results},
    description::{Arm, Experiment, Limit, Target},
    error::ExperimentError,
    run::{Progress, run},
};
