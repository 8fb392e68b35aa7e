//! Suites: inputs with what a program does on each, for later builds of the program to be compared with.
//!
//! ```text
//!   suite/
//!     suite.toml            what was recorded: program, oracle, limits, format
//!     inputs/NAME.json      what the program is given; any command that takes inputs takes this folder
//!     expected/NAME.json    what it did
//! ```
//! Everything is text that people read and version control merges. [`record`] decides what is worth recording, [`compare`]
//! what differs, and [`folder`] is the only one that knows the files.

pub mod compare;
mod diff;
pub mod expected;
pub mod folder;
pub mod junit;
mod names;
pub mod record;

pub use self::{
    compare::{Comparer, Difference},
    expected::Expected,
    folder::{Manifest, Suite, Test},
};
