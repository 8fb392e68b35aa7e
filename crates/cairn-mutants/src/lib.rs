//! What mutants there are, and what is known about a set of tests from running them.
//!
//! The instrumenter finds expressions in the code and tells of them as [`site::MutableFunction`]s; the catalogue
//! answers with [`Proposal`]s, whose changes are formulas over the values that are there. This crate sees neither
//! bitcode nor running programs.
//!
//! Read [`site`] first: it is all the catalogue knows. [`catalogue`] has the operators, one file a family, and [`formula`]
//! C's rules for what they compute. Of the mutants that were built, [`selection`] chooses which to run, and [`diff`] shows
//! one as a change of the source. [`docs`] writes the manual of the operators.
//!
//! A mutant has a text as well as a change, and says whether the two mean the same. That claim is tested here by computing
//! both, and again on real programs by compiling both.

pub mod analysis;
pub mod catalogue;
pub mod diff;
pub mod docs;
pub mod formula;
pub mod selection;
pub mod site;
#[cfg(test)]
mod testing;

use cairn_model::{StableId, mutants::Change};

/// A mutant the catalogue proposes for one spot.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Names it across rebuilds.
    pub stable_id: StableId,
    /// The operator's name.
    pub operator: &'static str,
    /// The operator's code in the literature.
    pub code: &'static str,
    /// What the site's text becomes.
    pub replacement: String,
    /// Whether putting `replacement` in place of the site's text gives a source that compiles to this mutant.
    pub is_plain_text: bool,
    /// What happens instead.
    pub change: Change,
}
