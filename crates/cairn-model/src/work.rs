//! How much may be done, and how much was.

use serde::{Deserialize, Serialize};
use std::{ops::AddAssign, time::Duration};

/// How much may be done; what is absent has no limit.
///
/// Limits of work make decisions repeatable, limits of time do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Time on the clock.
    pub wall: Option<Duration>,
    /// Time of all processors, target included.
    pub cpu: Option<Duration>,
    /// Inputs tried.
    pub inputs: Option<u64>,
    /// Runs of the target, in any of its views.
    pub target_runs: Option<u64>,
    /// Runs with a mutant active.
    pub mutant_runs: Option<u64>,
    /// Paths nobody took before.
    pub new_paths: Option<u64>,
}

impl Budget {
    /// Whether work is counted and no time: then the same is decided however busy the machine is.
    pub fn counts_work_alone(&self) -> bool {
        let work = [self.inputs, self.target_runs, self.mutant_runs, self.new_paths];
        work.iter().any(Option::is_some) && self.wall.is_none() && self.cpu.is_none()
    }
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Time on the clock.
    pub wall: Duration,
    /// Time of all processors, target included.
    pub cpu: Duration,
    /// Of the time on the clock, what went to mutants: looks at what inputs infect, runs of mutants, judgement of kills.
    #[serde(default)]
    pub on_mutants: Duration,
    /// Inputs tried.
    pub inputs: u64,
    /// Runs of the target without a mutant, judging and confirming included.
    pub target_runs: u64,
    /// Runs with a mutant active.
    pub mutant_runs: u64,
    /// Paths nobody took before.
    pub new_paths: u64,
}

impl Budget {
    /// No limit at all.
    pub const UNLIMITED: Self =
        Self { wall: None, cpu: None, inputs: None, target_runs: None, mutant_runs: None, new_paths: None };

    /// So many inputs.
    pub fn of_inputs(n_inputs: u64) -> Self {
        Self { inputs: Some(n_inputs), ..Self::UNLIMITED }
    }

    /// So much time on the clock.
    pub fn of_wall(wall: Duration) -> Self {
        Self { wall: Some(wall), ..Self::UNLIMITED }
    }

    /// Whether a limit is reached.
    pub fn is_over(&self, spent: &Spent) -> bool {
        fn reached<T: PartialOrd>(limit: Option<T>, spent: T) -> bool {
            limit.is_some_and(|limit| spent >= limit)
        }
        reached(self.wall, spent.wall)
            || reached(self.cpu, spent.cpu)
            || reached(self.inputs, spent.inputs)
            || reached(self.target_runs, spent.target_runs)
            || reached(self.mutant_runs, spent.mutant_runs)
            || reached(self.new_paths, spent.new_paths)
    }

    /// What is left of it.
    pub fn left(&self, spent: &Spent) -> Self {
        fn rest(limit: Option<u64>, spent: u64) -> Option<u64> {
            limit.map(|limit| limit.saturating_sub(spent))
        }
        Self {
            wall: self.wall.map(|limit| limit.saturating_sub(spent.wall)),
            cpu: self.cpu.map(|limit| limit.saturating_sub(spent.cpu)),
            inputs: rest(self.inputs, spent.inputs),
            target_runs: rest(self.target_runs, spent.target_runs),
            mutant_runs: rest(self.mutant_runs, spent.mutant_runs),
            new_paths: rest(self.new_paths, spent.new_paths),
        }
    }

    /// The tighter of two budgets, limit by limit.
    pub fn and(&self, other: &Self) -> Self {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Self {
            wall: least(self.wall, other.wall),
            cpu: least(self.cpu, other.cpu),
            inputs: least(self.inputs, other.inputs),
            target_runs: least(self.target_runs, other.target_runs),
            mutant_runs: least(self.mutant_runs, other.mutant_runs),
            new_paths: least(self.new_paths, other.new_paths),
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.wall += more.wall;
        self.cpu += more.cpu;
        self.on_mutants += more.on_mutants;
        self.inputs += more.inputs;
        self.target_runs += more.target_runs;
        self.mutant_runs += more.mutant_runs;
        self.new_paths += more.new_paths;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_limit_ends_a_budget() {
        let budget = Budget { inputs: Some(10), wall: Some(Duration::from_secs(1)), ..Budget::UNLIMITED };
        assert!(!budget.is_over(&Spent { inputs: 9, target_runs: 1000, ..Spent::default() }));
        assert!(budget.is_over(&Spent { inputs: 10, ..Spent::default() }));
        assert!(budget.is_over(&Spent { wall: Duration::from_secs(2), ..Spent::default() }));
    }

    #[test]
    fn what_is_left_is_never_negative() {
        let left = Budget::of_inputs(10).left(&Spent { inputs: 12, ..Spent::default() });
        assert_eq!(left, Budget::of_inputs(0));
    }

    #[test]
    fn the_tighter_limit_counts() {
        let both = Budget::of_inputs(10).and(&Budget { target_runs: Some(3), ..Budget::of_inputs(20) });
        assert_eq!(both, Budget { target_runs: Some(3), ..Budget::of_inputs(10) });
    }
}
