//! Mutants as independent builds see them.
//!
//! A [`MutantBuild`] is a program with its mutant view. A [`Reference`] is the same program with one mutant compiled in
//! and nothing of ours: from the bitcode ([`MutantBuild::alone`]) or from a changed source ([`EditedSources`]). A
//! [`Judge`] runs both and says whether they agree. [`Gathered`] is one program for all mutants, each compiled alone.

mod behaviour;
mod build;
mod edit;
mod gathered;
mod judge;
mod sample;

pub use self::{
    behaviour::Behaviour,
    build::MutantBuild,
    edit::{EditedSources, edited, settled},
    gathered::Gathered,
    judge::{Agreement, Judge, Reference, Tally},
    sample::sample,
};
