//! Finds the bytes of an input that make conditions hold.
//!
//! A [`Query`] is a path up to a branch, and a goal beyond it. A [`Solver`] answers with the bytes to change, with a
//! refutation, or with a reason for not knowing ([`Answer`]), and says which [`Stage`] it was and what it cost.
//!
//! Solvers are composed from small ones; [`standard()`] builds the usual composition, from the outside in:
//!
//! 1. [`Optimistic`] asks again with fewer constraints when nobody knows.
//! 2. [`Sliced`] leaves out what has nothing to do with the goal.
//! 3. [`Cached`] remembers answers by structure; in its place [`Shared`] remembers them exactly, for many solvers at once.
//! 4. [`Portfolio`] asks, cheapest first: [`InputToState`] undoes operations; [`Search`] tries values and measures how
//!    far conditions are from holding; [`Smt`] asks Z3 where it is installed.
//! 5. Around each of these, [`Checked`] evaluates every model on the query, and [`Counted`] keeps its record.
//!
//! Nothing here knows a target or a trace. Work is counted, not timed, and random choices come from a seed, so the same
//! queries have the same answers.

mod answer;
mod decorators;
mod input_to_state;
mod inversion;
mod model;
mod query;
mod search;
mod shrink;
mod slice;
mod smt;
mod solver;
mod standard;
mod statistics;
mod terms;

pub use crate::{
    answer::{Answer, Budget, Reason, Response, Stage, Strength, Work},
    decorators::{Answers, Budgeted, Cached, Checked, Counted, Optimistic, Portfolio, Shared, Sliced},
    input_to_state::InputToState,
    model::Model,
    query::{Changed, Query},
    search::Search,
    slice::slice,
    smt::{Smt, SmtUnavailable},
    solver::Solver,
    standard::{Config, Standard, standard, standard_sharing},
    statistics::{StageStatistics, Statistics},
};
