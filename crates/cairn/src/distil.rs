//! From many inputs to a few small ones that are as good.
//!
//! ```text
//!   corpus ──► what each input covers, twice ──► the smallest set ──► each input reduced ──► run again, in fresh processes
//! ```
//! What an input covers are the branches and lines that `cairn cover` counts, the way in which the program ends on it (exit
//! status, signal, hang), and mutants that it kills if that is asked for. The last step is what the user is told.

mod bench;
pub mod corpus;
mod kills;
mod process;
mod yardstick;

pub use self::{
    bench::pin,
    kills::Killer,
    process::{DistilConfig, Distilled, Interrupted, Reducing, Totals, distil},
    yardstick::size,
};
