//! What each stage was asked, what it said, and what that cost.

use crate::{Answer, Response, Stage, Work};
use std::{collections::BTreeMap, time::Duration};

/// The record of one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageStatistics {
    /// Queries it was asked.
    pub n_queries: u64,
    /// Those it found a model for.
    pub n_sat: u64,
    /// Those it refuted.
    pub n_unsat: u64,
    /// Those it could not answer.
    pub n_unknown: u64,
    /// Models it gave that do not satisfy their query; they were turned into unknown.
    pub n_wrong_models: u64,
    /// What it did.
    pub work: Work,
    /// How long it took.
    pub time: Duration,
}

impl StageStatistics {
    /// Notes an answer.
    pub fn note(&mut self, response: &Response, time: Duration) {
        self.n_queries += 1;
        match response.answer {
            Answer::Sat(_) => self.n_sat += 1,
            Answer::Unsat => self.n_unsat += 1,
            Answer::Unknown(_) => self.n_unknown += 1,
        }
        self.work += response.work;
        self.time += time;
    }

    fn add(&mut self, other: &Self) {
        self.n_queries += other.n_queries;
        self.n_sat += other.n_sat;
        self.n_unsat += other.n_unsat;
        self.n_unknown += other.n_unknown;
        self.n_wrong_models += other.n_wrong_models;
        self.work += other.work;
        self.time += other.time;
    }
}

/// The records of all stages, and what happened around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// By stage; those never asked are absent.
    pub stages: BTreeMap<Stage, StageStatistics>,
    /// Constraints of all queries before independence slicing.
    pub n_constraints: u64,
    /// Constraints that were left after it.
    pub n_sliced_constraints: u64,
    /// Queries answered with fewer constraints than they had.
    pub n_optimistic: u64,
}

impl Statistics {
    /// Adds a stage's record.
    pub fn add_stage(&mut self, stage: Stage, record: &StageStatistics) {
        if record.n_queries > 0 {
            self.stages.entry(stage).or_default().add(record);
        }
    }

    /// The record of a stage; empty if it was never asked.
    pub fn stage(&self, stage: Stage) -> StageStatistics {
        self.stages.get(&stage).copied().unwrap_or_default()
    }
}
