//! What runs decide.

use cairn_model::{ConditionId, map::Branch};

/// One condition as a run decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Which; none for a branch that is no condition of the map: hidden ones, and those of library functions.
    pub condition: Option<ConditionId>,
    /// Its truth.
    pub direction: bool,
    /// Whether another input could decide it otherwise.
    pub kind: TurnKind,
}

/// Whether another input could decide something otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TurnKind {
    /// Perhaps: the program decides it by its input.
    Program,
    /// Perhaps: a library function decides it by the input.
    Library,
    /// No, or we cannot tell how.
    Fixed,
}

impl Turn {
    /// The branch of the map that was taken.
    pub fn branch(&self) -> Option<Branch> {
        Some(Branch { condition: self.condition?, direction: self.direction })
    }

    /// Whether another input could decide it otherwise.
    pub fn is_symbolic(&self) -> bool {
        self.kind != TurnKind::Fixed
    }
}

/// The other way out of a condition.
pub(crate) fn opposite(branch: Branch) -> Branch {
    Branch { direction: !branch.direction, ..branch }
}
