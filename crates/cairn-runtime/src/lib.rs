//! Linked into the target: channel, counters, typed variables, harness entry.
//!
//! At start-up, before anything of the target, it looks for a [`channel`] on its descriptor. In a view it lays the view's counters over the
//! channel's, so that every hit is seen by the host even when the target dies ([`counters`]), and makes the host's choice
//! of [`mutants`] the view's. Later the target asks
//! for [`variables`] by name, in Cairn's own words, KLEE's or CREST's; a harness without `main` finds one in
//! `main.c` and [`harness`], its own mutator what it calls in [`mutate`], and an AFL program its buffer in [`afl`]. Without a channel all of this works too, fed from the
//! environment, files and standard input, so that a finding can be replayed without Cairn; and other people's fuzzers
//! can drive a view through its [`forkserver`]. A program that fails tells the host where, if it is asked to (`stack`).
//!
//! The runtime lives inside a program that is wrong by assumption. So it asks the kernel directly ([`system`]) and
//! never the target's C library, whose functions the target may have replaced and whose allocator it may have ruined; it
//! does not unwind; it owns no thread.
//!
//! In the workspace this is a plain library. `cargo xtask dist` makes two archives of it: `libcairn_rt.a` for views
//! (feature `view`) and `libcairn_deliver.a` for the ordinary executable and the bare build (feature `archive`).
#![cfg_attr(not(test), no_std)]

pub mod system;

pub mod channel;
#[cfg(feature = "view")]
pub mod compare;
#[cfg(feature = "view")]
pub mod counters;
#[cfg(feature = "view")]
pub mod forkserver;
#[cfg(feature = "view")]
pub mod mutants;
#[cfg(feature = "view")]
pub mod program;
#[cfg(all(feature = "view", target_arch = "x86_64"))]
pub mod session;
#[cfg(all(feature = "view", target_arch = "x86_64"))]
pub mod symbolic;

#[cfg(target_arch = "x86_64")]
mod stack;

pub mod environment;
pub mod occurrences;
pub mod request;
pub mod variables;

pub mod klee;

pub mod afl;
pub mod buffer;
pub mod harness;
pub mod mutate;
pub mod output;

#[cfg(feature = "archive")]
mod archive;
#[cfg(feature = "archive")]
mod memory;
