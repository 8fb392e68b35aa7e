//! What a campaign tells while it goes on; `events.jsonl` has one a line.

use cairn_model::Ending;
use serde::{Deserialize, Serialize};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Milliseconds since the campaign began, time it did not run left out.
    pub after_ms: u64,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventKind {
    /// Work began, or goes on.
    Began {
        /// Whether there was something to go on from.
        is_resumed: bool,
        /// Where chances come from.
        seed: u64,
        /// How many work.
        workers: usize,
        /// Branches of the program in scope.
        n_branches: usize,
        /// Mutants that count; none where none are run.
        #[serde(default)]
        n_mutants: usize,
    },
    /// An input is kept.
    Kept {
        /// Its number.
        entry: u32,
        /// Names its file.
        address: String,
        /// Who made it.
        strategy: String,
        /// The input it was made from.
        parent: Option<u32>,
        /// How it was made.
        made_by: String,
        /// Why it is kept.
        kept_for: String,
        /// Branches reached by now.
        n_branches: usize,
    },
    /// Mutants are killed that were not before.
    Killed {
        /// The number of the input that kills them.
        entry: u32,
        /// Who made it.
        strategy: String,
        /// What the mutants change, and how they give themselves away; the first of many.
        kills: Vec<String>,
        /// How many there are.
        n_kills: usize,
        /// Mutants killed by now.
        n_killed: usize,
    },
    /// The program fails in a new way, or a smaller input for a known one was found.
    Failed {
        /// Names the way.
        signature: String,
        /// What kind of failure.
        kind: String,
        /// Names the file of the input.
        address: String,
        /// Who made the input.
        strategy: String,
        /// Where the program was, innermost first.
        stack: Vec<String>,
        /// Whether it is a smaller input for a known failure.
        is_smaller: bool,
    },
    /// An input failed in a view, and the bare build did not; the input is kept apart.
    Unconfirmed {
        /// Names the file of the input.
        address: String,
        /// Who made the input.
        strategy: String,
        /// How it ended in the view.
        ending: Ending,
        /// Runs of the bare build, none of which failed.
        n_runs: u32,
    },
    /// Something to know.
    Warned {
        /// What.
        text: String,
    },
    /// A worker died and was started again.
    Restarted {
        /// Which.
        worker: usize,
        /// Why it died.
        why: String,
    },
    /// How far it is.
    Moment {
        /// Branches reached.
        n_branches: usize,
        /// Inputs kept.
        n_entries: usize,
        /// Ways to fail.
        n_failures: usize,
        /// Inputs tried.
        n_inputs: u64,
        /// Runs of the target.
        n_target_runs: u64,
        /// Runs with a mutant active.
        #[serde(default)]
        n_mutant_runs: u64,
        /// Time that went to mutants, that of all workers together.
        #[serde(default)]
        on_mutants_ms: u64,
        /// Mutants killed.
        #[serde(default)]
        n_killed: usize,
        /// Inputs tried a second, since the last such event.
        inputs_per_second: f64,
        /// What each worker is at.
        workers: Vec<String>,
    },
    /// Work ended.
    Ended {
        /// Why.
        why: Why,
    },
}

/// Why work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The budget was used up.
    Budget,
    /// Somebody asked.
    Asked,
    /// No strategy has anything to propose.
    NothingLeft,
    /// Something failed; the error says what.
    Error,
}
