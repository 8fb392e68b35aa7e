//! What the live screen shows.

use crate::campaign::lines::unconfirmed;
use cairn_campaign::{Event, EventKind};
use cairn_model::Budget;
use std::{collections::VecDeque, time::Duration};

/// Finds and warnings that are remembered: more than any terminal has lines.
const REMEMBERED: usize = 200;

/// Rates that are remembered: more than any terminal has columns.
const RATES: usize = 500;

/// Points of the curve; beyond it every second one is forgotten.
const POINTS: usize = 2000;

/// What does not change while a campaign goes on.
#[derive(Clone, Debug, Default)]
pub struct Title {
    /// The program with its arguments.
    pub target: String,
    /// Where the campaign lies.
    pub folder: String,
    /// When it ends.
    pub budget: Budget,
}

/// What the live screen shows: what events told, ready to be drawn.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// What is known from the beginning.
    pub title: Title,
    /// How far it is, in the large.
    pub phase: Phase,
    /// When the last event came, on the campaign's clock.
    pub heard: Duration,
    /// Branches reached.
    pub n_reached: usize,
    /// Branches there are.
    pub n_branches: usize,
    /// Inputs kept.
    pub n_entries: usize,
    /// Ways to fail.
    pub n_failures: usize,
    /// Inputs tried.
    pub n_inputs: u64,
    /// Runs of the target.
    pub n_target_runs: u64,
    /// Mutants that count, of how many are killed.
    pub n_mutants: usize,
    /// See [`Model::n_mutants`].
    pub n_killed: usize,
    /// Inputs tried a second, one figure a moment, the last one now.
    pub rates: VecDeque<u64>,
    /// Seconds, and branches reached then.
    pub curve: Vec<(f64, f64)>,
    /// What was found, the last one first.
    pub finds: VecDeque<Find>,
    /// What each worker is at.
    pub workers: Vec<String>,
    /// What there is to know, the last one first.
    pub warnings: VecDeque<String>,
}

/// How far a campaign is, in the large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was heard yet.
    #[default]
    Starting,
    /// It works.
    Working,
    /// It was asked to end.
    Ending,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Find {
    /// When.
    pub after: Duration,
    /// What.
    pub what: Found,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// An input that is kept.
    Input {
        /// Its number.
        entry: u32,
        /// Who made it, and how.
        made_by: String,
        /// Why it is kept.
        kept_for: String,
    },
    /// Mutants that an input kills.
    Kills {
        /// The number of the input.
        entry: u32,
        /// The first of them, and how they give themselves away.
        kills: Vec<String>,
        /// How many there are.
        n_kills: usize,
    },
    /// A way to fail.
    Failure {
        /// What kind, and where.
        what: String,
        /// Who made the input.
        strategy: String,
        /// Whether it was known, and this is a smaller input for it.
        is_smaller: bool,
    },
}

impl Model {
    /// Before anything was heard.
    pub fn new(title: Title) -> Self {
        Self { title, ..Self::default() }
    }

    /// Takes in an event.
    pub fn observe(&mut self, event: &Event) {
        let after = Duration::from_millis(event.after_ms);
        self.heard = after;
        match &event.kind {
            EventKind::Began { workers, n_branches, n_mutants, .. } => {
                if self.phase == Phase::Starting {
                    self.phase = Phase::Working;
                }
                self.workers = vec!["starting".into(); *workers];
                self.n_branches = *n_branches;
                self.n_mutants = *n_mutants;
            }
            EventKind::Kept { entry, strategy, made_by, kept_for, n_branches, .. } => {
                self.n_entries = self.n_entries.max(*entry as usize + 1);
                self.reach(after, *n_branches);
                let made_by = format!("{strategy}: {made_by}");
                self.find(after, Found::Input { entry: *entry, made_by, kept_for: kept_for.clone() });
            }
            EventKind::Killed { entry, kills, n_kills, n_killed, .. } => {
                self.n_killed = *n_killed;
                self.find(after, Found::Kills { entry: *entry, kills: kills.clone(), n_kills: *n_kills });
            }
            EventKind::Failed { kind, stack, strategy, is_smaller, .. } => {
                self.n_failures += usize::from(!is_smaller);
                let place = stack.first().map_or(String::new(), |frame| format!(" in {frame}"));
                let what = format!("{kind}{place}");
                let (strategy, is_smaller) = (strategy.clone(), *is_smaller);
                self.find(after, Found::Failure { what, strategy, is_smaller });
            }
            EventKind::Unconfirmed { address, ending, n_runs, .. } => {
                self.warn(unconfirmed(address, ending, *n_runs))
            }
            EventKind::Warned { text } => self.warn(text.clone()),
            EventKind::Restarted { worker, why } => {
                self.warn(format!("worker {worker} was started again: {why}"))
            }
            EventKind::Moment {
                n_branches,
                n_entries,
                n_failures,
                n_inputs,
                n_target_runs,
                inputs_per_second,
                workers,
                n_killed,
                ..
            } => {
                self.n_killed = *n_killed;
                self.reach(after, *n_branches);
                (self.n_entries, self.n_failures) = (*n_entries, *n_failures);
                (self.n_inputs, self.n_target_runs) = (*n_inputs, *n_target_runs);
                self.rates.push_back(inputs_per_second.round() as u64);
                if self.rates.len() > RATES {
                    self.rates.pop_front();
                }
                self.workers.clone_from(workers);
            }
            EventKind::Ended { .. } => self.phase = Phase::Ending,
        }
    }

    fn reach(&mut self, after: Duration, n_reached: usize) {
        self.n_reached = n_reached;
        let point = (after.as_secs_f64(), n_reached as f64);
        // On a level stretch only its two ends matter.
        if let [.., (_, before), (time, last)] = &mut self.curve[..]
            && *before == point.1
            && *last == point.1
        {
            *time = point.0;
            return;
        }
        self.curve.push(point);
        if self.curve.len() > POINTS {
            let mut index = 0;
            self.curve.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
    }

    fn find(&mut self, after: Duration, what: Found) {
        self.finds.push_front(Find { after, what });
        self.finds.truncate(REMEMBERED);
    }

    fn warn(&mut self, text: String) {
        self.warnings.push_front(text);
        self.warnings.truncate(REMEMBERED);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A moment in which so many branches are reached.
    pub fn moment(after_ms: u64, n_branches: usize, inputs_per_second: f64) -> Event {
        let kind = EventKind::Moment {
            n_branches,
            n_entries: 12,
            n_failures: 1,
            n_inputs: 34_567,
            n_target_runs: 35_000,
            n_mutant_runs: 0,
            on_mutants_ms: 0,
            n_killed: 0,
            inputs_per_second,
            workers: vec!["fuzz".into(), "fuzz".into()],
        };
        Event { after_ms, kind }
    }

    #[test]
    fn a_level_stretch_has_two_points() {
        let mut model = Model::default();
        for second in 0..100 {
            model.observe(&moment(second * 1000, if second < 50 { 3 } else { 8 }, 1.0));
        }
        assert_eq!(model.curve, [(0.0, 3.0), (49.0, 3.0), (50.0, 8.0), (99.0, 8.0)]);
    }

    #[test]
    fn nothing_grows_without_end() {
        let mut model = Model::default();
        for second in 0..10_000 {
            model.observe(&moment(second * 1000, second as usize, 1.0));
            let text = format!("{second}");
            model.observe(&Event { after_ms: second * 1000, kind: EventKind::Warned { text } });
        }
        assert!(model.curve.len() <= POINTS && model.rates.len() <= RATES);
        assert_eq!((model.curve[0], model.n_reached), ((0.0, 0.0), 9_999));
        assert_eq!((model.warnings.len(), &*model.warnings[0]), (REMEMBERED, "9999"));
    }

    #[test]
    fn a_smaller_input_is_no_new_failure() {
        let failed = |is_smaller| EventKind::Failed {
            signature: "s".into(),
            kind: "SIGSEGV".into(),
            address: "ab".into(),
            strategy: "fuzz".into(),
            stack: vec!["parse at a.c:3".into()],
            is_smaller,
        };
        let mut model = Model::default();
        for is_smaller in [false, true] {
            model.observe(&Event { after_ms: 5, kind: failed(is_smaller) });
        }
        assert_eq!((model.n_failures, model.finds.len()), (1, 2));
    }
}
