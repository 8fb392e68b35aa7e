//! What a solver says, who said it, and what it cost.

use crate::Model;
use std::{fmt, ops::AddAssign, time::Duration};

/// What became of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It holds on the seed with these changes. A checked solver has evaluated that.
    Sat(Model),
    /// No input makes it hold. Opaque terms keep the value they had.
    Unsat,
    /// Nobody knows.
    Unknown(Reason),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The method does not apply, or its ideas are used up.
    #[error("the method found nothing")]
    NotFound,
    /// As much work was done as was allowed.
    #[error("the budget of work is used up")]
    OutOfWork,
    /// It took too long.
    #[error("the time is over")]
    OutOfTime,
    /// The query has more terms than the method handles in reasonable time.
    #[error("the query is too large")]
    TooLarge,
    /// A model was given under which the query does not hold.
    #[error("the model given does not satisfy the query")]
    WrongModel,
    /// The query has functions that the solver does not know, and the model relied on that.
    #[error("the model relied on functions the solver does not know")]
    Inexact,
    /// The backend failed.
    #[error("the solver failed: {0}")]
    Failed(String),
}

/// An answer with its origin and cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// What became of the query.
    pub answer: Answer,
    /// Who answered; of several that knew nothing, the last.
    pub stage: Stage,
    /// Which query was answered.
    pub strength: Strength,
    /// What it took, all stages together.
    pub work: Work,
}

impl Response {
    /// An answer to the whole query.
    pub fn new(stage: Stage, answer: Answer, work: Work) -> Self {
        Self { answer, stage, strength: Strength::Full, work }
    }

    /// The model, if there is one.
    pub fn model(&self) -> Option<&Model> {
        match &self.answer {
            Answer::Sat(model) => Some(model),
            _ => None,
        }
    }
}

/// Whether the whole query was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// It was.
    Full,
    /// The model satisfies the goal and the last `n_constraints` constraints of the query; others may be broken, and
    /// a run on it may leave the path before the branch.
    Optimistic {
        /// How many constraints it satisfies for certain.
        n_constraints: usize,
    },
}

/// The methods, cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Looking at the query was enough: the seed satisfies it, or a condition is constant.
    Trivial,
    /// A remembered answer.
    Cache,
    /// Operations undone one by one, from the comparison to the input.
    InputToState,
    /// Trying values, guided by how far conditions are from holding.
    Search,
    /// Z3.
    Smt,
}

impl Stage {
    /// All, in order.
    pub const ALL: [Self; 5] = [Self::Trivial, Self::Cache, Self::InputToState, Self::Search, Self::Smt];

    /// Its name in reports and tests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trivial => "trivial",
            Self::Cache => "cache",
            Self::InputToState => "input-to-state",
            Self::Search => "search",
            Self::Smt => "smt",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Work done, counted in ways that do not depend on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Evaluations of the query on a candidate.
    pub evaluations: u64,
    /// What Z3 calls `rlimit`.
    pub rlimit: u64,
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.evaluations += other.evaluations;
        self.rlimit += other.rlimit;
    }
}

/// How much a query may cost.
///
/// Work decides, so that the same query has the same answer on a slower machine; the timeout is for what work does not
/// foresee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Evaluations on candidates, for input-to-state and search together.
    pub evaluations: u64,
    /// Z3's `rlimit`. A million is roughly a second.
    pub rlimit: u64,
    /// Wall-clock time for the whole query.
    pub timeout: Duration,
}

impl Default for Budget {
    /// 200 000 evaluations, an `rlimit` of 2 million, 5 seconds.
    fn default() -> Self {
        Self { evaluations: 200_000, rlimit: 2_000_000, timeout: Duration::from_secs(5) }
    }
}

impl Budget {
    /// What is left after some work and time.
    pub fn without(self, work: Work, time: Duration) -> Self {
        Self {
            evaluations: self.evaluations.saturating_sub(work.evaluations),
            rlimit: self.rlimit.saturating_sub(work.rlimit),
            timeout: self.timeout.saturating_sub(time),
        }
    }

    /// The smaller of both in every respect.
    pub fn min(self, other: Self) -> Self {
        Self {
            evaluations: self.evaluations.min(other.evaluations),
            rlimit: self.rlimit.min(other.rlimit),
            timeout: self.timeout.min(other.timeout),
        }
    }
}
