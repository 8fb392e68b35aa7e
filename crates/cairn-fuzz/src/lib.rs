//! Changes inputs at random, keeps what reaches something new, and learns which changes pay.

mod bandit;
mod chooser;
mod config;
mod dictionary;
mod mutation;
mod queue;
mod random;
mod region;

pub use crate::{
    config::FuzzConfig,
    dictionary::{Dictionary, DictionaryError},
    queue::Seed,
    region::RegionKind,
};
