//! Changes inputs at random, keeps what reaches something new, and learns which changes pay.
//!
//! [`FuzzStrategy`] is the fuzzer as a campaign uses it. It wraps a [`FuzzLoop`], which other techniques use with
//! [`Surroundings`] of their own: another view to run, other values of seeds, another moment to stop.
//!
//! ```text
//!   queue ──choose──► seed ──change──► batch ──Session──► something new? ──► candidate, and a seed of its own
//!     ▲                                                                              │
//!     └── answers ◄── comparisons ◄── symbolic run, one for a new seed ◄─────────────┘
//! ```
//!
//! Inputs are changed region by region, each kind in ways of its own ([`RegionKind`]), with words of a [`Dictionary`]: the
//! user's, and what stands in the program. Which way pays is learnt (`bandit`), which seed is next follows from what is
//! rare and cheap (`queue`), and what the program compares its input with is written where it was compared (`comparisons`).
//! A harness with a mutator of its own is asked to change its buffers itself (`harness`). With [`Mutants`], inputs that kill one
//! are worth keeping, too (`killing`).
//!
//! Mutators of bytes and random numbers are LibAFL's; none of its types leaves this crate. Harness buffers are changed and
//! run without allocating.

mod bandit;
mod batch;
mod chooser;
mod comparisons;
mod config;
mod dictionary;
mod fuzz_loop;
mod hangs;
mod harness;
mod killer;
mod killing;
mod liberty;
mod mutants;
mod mutation;
mod pace;
mod queue;
mod random;
mod region;
mod strategy;
mod surroundings;
mod trim;

pub use crate::{
    config::FuzzConfig,
    dictionary::{Dictionary, DictionaryError},
    fuzz_loop::{FuzzCounts, FuzzLoop},
    mutants::{MutantCounts, MutantFilter, Mutants, MutantsConfig, ShareConfig},
    queue::Seed,
    region::RegionKind,
    strategy::FuzzStrategy,
    surroundings::{Done, Surroundings},
};
