//! Decides which branch to flip next.
//!
//! The ways that runs took make a [`Tree`]: wherever a run decided something by its input, another input may decide otherwise. A
//! [`Selector`] looks at the tree, at the program map and at the [`History`] and answers with a [`Question`]: the place that it would
//! have decided otherwise next. [`Selector::observe`] tells it what came of every question.
//!
//! ```text
//!   Run ──Search::begin──► Tree, History ──Selector::choose──► Question ──(a solver, a run)──► Outcome ──Search::settle──┐
//!                              ▲                                                                                        │
//!                              └────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Selectors see structure and history, never a solver or a running target, so the same recorded runs and the same seed always give
//! the same order. That is what lets us test them as text: see `tests/orders.rs`.
//!
//! Published heuristics live in [`classic`], by name in [`Heuristic`]; [`compose`] limits and combines them. [`Features`] reads what a
//! learned heuristic scores branches by.

pub mod classic;
pub mod compose;
mod contexts;
mod features;
mod heuristic;
mod history;
mod nearness;
mod search;
mod selector;
mod tree;
mod turn;

pub use crate::{
    contexts::Contexts,
    features::{FEATURES, Feature, FeatureVector, Features, Source},
    heuristic::{Heuristic, NoSuchHeuristic},
    history::{Asked, History},
    search::{Outcome, Run, Search, Settled},
    selector::{News, Question, Selector, View},
    tree::{FlipState, NodeId, PathId, Taken, Tree},
    turn::{Turn, TurnKind},
};
