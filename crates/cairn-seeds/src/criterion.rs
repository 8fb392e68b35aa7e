//! What counts as covered.

use std::{fmt, str::FromStr};

/// What counts as covered when seeds are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Criterion {
    /// Nothing: every candidate is a seed.
    None,
    /// The outcomes of decisions.
    Decision,
    /// Both values of each condition of each decision.
    Condition,
    /// Basic paths: those through a function without going round in a loop, and loops that are not entered, entered once, and more often;
    /// besides them values of conditions, because a function that is not returned from has no path.
    Path,
    /// The outcomes of decisions, and mutants that are killed.
    DecisionKills,
}

impl Criterion {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::None, Self::Decision, Self::Condition, Self::Path, Self::DecisionKills];

    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Decision => "decision",
            Self::Condition => "condition",
            Self::Path => "path",
            Self::DecisionKills => "decision+kills",
        }
    }

    /// What one of its elements is called: `12 decision outcomes`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::None => "candidate",
            Self::Decision => "decision outcome",
            Self::Condition => "condition value",
            Self::Path => "basic path or condition value",
            Self::DecisionKills => "decision outcome or kill",
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Criterion {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|criterion| criterion.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(|criterion| format!("`{criterion}`")).join(", ");
            format!("`{name}` is no criterion; there are {names}")
        })
    }
}
