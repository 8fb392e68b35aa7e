//! Inputs that somebody may look at more closely.

use cairn_model::{EntryId, Input};

/// An input on which the target seems to work, and which is not proposed: it reaches nothing new, or what is proposed is a smaller
/// one made from it. A look that a strategy cannot afford for every input may find something wrong with it all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// What the target was given.
    pub input: Input,
    /// The input it was made from, if it was.
    pub parent: Option<EntryId>,
    /// How it was made, in a few words for people.
    pub reason: String,
    /// Why it was chosen.
    pub chosen: Chosen,
}

/// Why an input was chosen as a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// It reached something new, and was made smaller before it was proposed.
    BeforeCuts,
    /// By chance.
    ByChance,
}
