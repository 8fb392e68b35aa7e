//! How far a mutant came.

use super::matrix::InputNumber;
use cairn_model::KillReason;

/// What a whole set of inputs did to a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// No input executes its place.
    NotReached,
    /// Its place is executed, and its value never differs there.
    Reached,
    /// Its value differs, and nobody notices.
    Infected,
    /// It cannot be told on some input, and no other kills it.
    Undecided,
    /// What it does depends on where things lie in memory. Never scored.
    LayoutDependent,
    /// Inputs are left that may kill it.
    Pending,
    /// It was noticed.
    Killed {
        /// How.
        reason: KillReason,
        /// By the first input that does.
        by: InputNumber,
    },
}

impl Fate {
    /// The fate after one input more: whatever says more. Of two kills, the earlier input's.
    pub(super) fn joined_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Killed { by: first, .. }, Self::Killed { by: second, .. }) => {
                if first <= second {
                    self
                } else {
                    other
                }
            }
            _ if other.rank() > self.rank() => other,
            _ => self,
        }
    }

    fn rank(self) -> u8 {
        match self {
            Self::NotReached => 0,
            Self::Reached => 1,
            Self::Infected => 2,
            Self::Undecided => 3,
            Self::LayoutDependent => 4,
            Self::Pending => 5,
            Self::Killed { .. } => 6,
        }
    }

    /// Whether nothing more will be found out and no input noticed it.
    pub fn is_survivor(self) -> bool {
        matches!(self, Self::NotReached | Self::Reached | Self::Infected)
    }

    /// A word for reports, which stays the same.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotReached => "not-reached",
            Self::Reached => "reached",
            Self::Infected => "infected",
            Self::Undecided => "undecided",
            Self::LayoutDependent => "layout-dependent",
            Self::Pending => "pending",
            Self::Killed { .. } => "killed",
        }
    }
}
