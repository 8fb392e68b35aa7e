//! What was concluded from running a mutant on an input.

use crate::{entry::EntryId, ids::MutantId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a run of a mutant showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It did what the original does.
    Survived,
    /// It did something else.
    Killed(KillReason),
    /// What it does depends on where things lie in memory, so nothing follows from it.
    LayoutDependent,
    /// It cannot be told: what would have to be compared was cut off, or the sandbox stopped it.
    Undecided,
}

impl Verdict {
    /// The reason, if it was killed.
    pub fn kill_reason(self) -> Option<KillReason> {
        match self {
            Self::Killed(reason) => Some(reason),
            Self::Survived | Self::LayoutDependent | Self::Undecided => None,
        }
    }
}

/// A mutant that an input gives away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kill {
    /// The mutant.
    pub mutant: MutantId,
    /// The input that was first found to.
    pub entry: EntryId,
    /// How.
    pub reason: KillReason,
}

/// How a mutant gave itself away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KillReason {
    /// It wrote something else.
    Output,
    /// It ended with another exit status.
    Exit,
    /// It left other files.
    Files,
    /// It died of this signal.
    Crash(i32),
    /// A sanitizer stopped it.
    Sanitizer,
    /// It used up its fuel.
    Fuel,
    /// It ran into the wall limit.
    Timeout,
    /// It ran out of memory.
    Memory,
    /// It wrote without end.
    TooMuchOutput,
}

impl KillReason {
    /// The reason without its details: what kills are counted by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Exit => "exit",
            Self::Files => "files",
            Self::Crash(_) => "crash",
            Self::Sanitizer => "sanitizer",
            Self::Fuel => "fuel",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::TooMuchOutput => "too much output",
        }
    }

    /// Whether the mutant did not come to an end by itself.
    pub fn is_timeout(self) -> bool {
        matches!(self, Self::Fuel | Self::Timeout)
    }
}

impl fmt::Display for KillReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash(signal) => write!(f, "crash (signal {signal})"),
            reason => f.pad(reason.name()),
        }
    }
}
