//! What became of a candidate.

use cairn_model::{Ending, Entry, Input, Kill, ProgramFailure};
use std::sync::Arc;

/// What became of a candidate, its own or another's.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Who proposed it.
    pub strategy: String,
    /// What it was.
    pub input: Input,
    /// What it is.
    pub kind: FindingKind,
}

/// What a candidate turned out to be.
#[derive(Clone, Debug)]
pub enum FindingKind {
    /// It reaches something new and is kept.
    Kept(Arc<Entry>),
    /// It was kept before, and kills mutants that nobody is known to kill.
    Kills(Vec<Kill>),
    /// The program fails on it, in a way not seen before.
    Failure(Arc<ProgramFailure>),
    /// The program fails on it as it does on another.
    KnownFailure {
        /// Names the way it fails.
        signature: String,
    },
    /// It failed in a view and not on the bare build.
    Unconfirmed {
        /// How it ended in the view.
        ending: Ending,
    },
    /// Nothing about it is new.
    NothingNew,
}

impl Finding {
    /// Whether it is worth telling.
    pub fn is_new(&self) -> bool {
        matches!(self.kind, FindingKind::Kept(_) | FindingKind::Kills(_) | FindingKind::Failure(_))
    }
}
