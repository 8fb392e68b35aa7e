//! Seeds for fuzzers, by symbolic execution.
//!
//! This is CSEFuzz ([Xie et al., 2020](https://doi.org/10.1109/ACCESS.2020.3030798)): concolic testing makes candidates
//! ([`Exploration`]); each is run, and what it covers under a [`Criterion`] is its *template* ([`Measure`], [`Elements`]); as few templates
//! as cover everything are chosen, and one candidate of each is a seed ([`Selection`]).
//!
//! ```text
//!   inputs ──Exploration──► candidates ──Measure──► templates ──Selection::choose──► seeds ──► a fuzzer
//!                              │ failing ones                                          │
//!                              └──► findings, at once                   Freedom ◄──────┘ what of them is free
//! ```
//!
//! Templates are streamed: of candidates that cover the same one is held, and no trace of any.
//! [`CseFuzzStrategy`] does all of this as the first steps of a campaign, and then lets a fuzzer go on; it does not know which.
//! The paper's inputs lack variables that a path condition does not speak of; ours have all their bytes, and [`Filling`] says what is put
//! where nothing was decided by them.

mod criterion;
mod decisions;
mod elements;
mod explanation;
mod exploration;
mod filling;
mod instalments;
mod measure;
mod selection;
mod strategy;

pub use crate::{
    criterion::Criterion,
    decisions::{Outcome, of_conditions, of_decisions},
    elements::{Described, Elements},
    explanation::describe_freedom,
    exploration::{Exploration, ExplorationConfig, Progress},
    filling::Filling,
    instalments::Begins,
    measure::{Measure, Measured, Runner, at_once},
    selection::{Added, Chosen, Pick, Selection, Template},
    strategy::{Bound, CseFuzzStrategy, SeedCounts, SeedsConfig, cost},
};
