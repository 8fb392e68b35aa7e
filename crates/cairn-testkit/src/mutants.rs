//! Mutants as independent builds see them.
//!
//! A [`MutantBuild`] is a program with its mutant view. A [`Reference`] is the same program with one mutant compiled in
//! and nothing of ours: from the bitcode ([`MutantBuild::alone`]) or from a changed source ([`EditedSources`]). A
//! [`Judge`] runs both and says whether they agree.

mod behaviour;
mod build;
mod edit;
mod judge;
mod sample;

pub use self::{
    behaviour::Behaviour,
    build::MutantBuild,
    edit::{EditedSources, edited, settled},
    judge::{Agreement, Judge, Reference, Tally},
    sample::sample,
};
