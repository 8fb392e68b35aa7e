//! Everything the target and the host agree on.
//!
//! The host gives every run a *channel*: a memory file on descriptor [`channel::CHANNEL_FD`], laid out by
//! [`channel::ChannelHeader`]. The runtime in the target maps it, lays its counters over the counter region, and
//! finds there what the input delivers ([`delivery`]). What the run did comes back the same way: counters,
//! harness output, and trace [`record`]s. In a [`session`] one process runs many inputs, and a harness may make [`changes`] to them
//! itself; [`mutants`] are chosen run by run, and a [`symbolic`] run tells what its values are made of. A run that fails can tell its [`stack`].
//!
//! A layout is defined once, reader and writer side by side, its size asserted at compile time. The host treats
//! everything the target may have written as hostile.
//!
//! This crate depends on nothing, because it is compiled into the target.
#![cfg_attr(not(test), no_std)]

pub mod changes;
pub mod channel;
pub mod counters;
pub mod delivery;
pub mod mutants;
pub mod record;
pub mod session;
pub mod stack;
pub mod symbolic;
pub mod view;

/// Raised whenever anything in this crate changes its layout or meaning.
///
/// The instrumenter makes every view refer to [`ABI_SYMBOL`], which only a runtime of the same version defines,
/// so a mix fails at link time.
pub const ABI_VERSION: u32 = 5;

/// The symbol a runtime of this version defines.
pub const ABI_SYMBOL: &str = "cairn_abi_v5";
