//! Symbolic seeds, as the command line knows them.

mod explain;
mod failures;
mod harvest;

pub use self::{
    explain::explain,
    failures::{ConfirmedFailure, Failures, confirm},
    harvest::{Ended, Harvest, HarvestConfig, Runners, harvest},
};
