//! Inputs that were proposed.

use cairn_model::{Ending, EntryId, Input, MutantId};

/// An input that nobody has judged yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What the target would be given.
    pub input: Input,
    /// The input it was made from, if it was.
    pub parent: Option<EntryId>,
    /// How it was made, in a few words for people: `splice, bit flip`.
    pub reason: String,
    /// Mutants that it is said to kill. The campaign finds out whether that is true.
    pub kills: Vec<MutantId>,
    /// How a run of it failed, if one did. Some programs fail only now and then, so the next run need not.
    pub failed: Option<Ending>,
}
