//! What an operator is.

use super::context::{Context, Drafts};
use std::fmt;

/// A mutation operator.
#[derive(Debug)]
pub struct Operator {
    /// What people call it: `arith-op-replace`.
    pub name: &'static str,
    /// Its code in the literature.
    pub code: &'static str,
    /// What it changes, in a sentence.
    pub meaning: &'static str,
    /// What it means when such a mutant survives.
    pub surviving: &'static str,
    /// An example.
    pub example: Example,
    /// How to kill it.
    pub kill: &'static str,
    /// The sets it is in; every operator is in [`Set::All`].
    pub sets: &'static [Set],
    /// How its mutants are made.
    pub maker: Maker,
}

/// A piece of source before and after.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// As written.
    pub before: &'static str,
    /// As mutated.
    pub after: &'static str,
}

/// How an operator's mutants are made.
#[derive(Clone, Copy)]
pub enum Maker {
    /// From a spot.
    Spot(fn(&Context<'_>, &mut Drafts)),
    /// They are not made, for this reason.
    NotMade(&'static str),
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spot(_) => "Spot",
            Self::NotMade(_) => "NotMade",
        })
    }
}

/// A named set of operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Few and strong; the default.
    Compact,
    /// DEMINER's Table I.
    Deminer,
    /// What Mu2 takes from PIT.
    Mu2,
    /// Everything.
    All,
}

impl Set {
    /// All of them.
    pub const EACH: [Self; 4] = [Self::Compact, Self::Deminer, Self::Mu2, Self::All];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Deminer => "deminer",
            Self::Mu2 => "mu2",
            Self::All => "all",
        }
    }

    /// What it is for.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Compact => {
                "The default: few operators that rarely repeat each other, one to three mutants a line."
            }
            Self::Deminer => "Table I of DEMINER, classic operators on C expressions: many mutants a line.",
            Self::Mu2 => "The default operators of PIT that Mu2 uses, read for C.",
            Self::All => "Every operator of the catalogue.",
        }
    }
}

impl Operator {
    /// Whether it belongs to a set.
    pub fn is_in(&self, set: Set) -> bool {
        set == Set::All || self.sets.contains(&set)
    }

    /// Whether it makes mutants at all.
    pub fn is_made(&self) -> bool {
        matches!(self.maker, Maker::Spot(_))
    }
}
