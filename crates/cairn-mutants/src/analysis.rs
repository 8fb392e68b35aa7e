//! What running mutants says about a set of tests.
//!
//! A [`KillMatrix`] holds what each input did to each mutant. From it follow the [`Fate`] of every mutant, the
//! [`Score`] of the set, the [`survivors`] worth a look, and the smallest subset of inputs that is as good as all
//! ([`cover::smallest_cover`]).
//!
//! ```text
//!   not reached ─► reached ─► infected ─► killed
//! ```
//! Each step is a stronger thing to say about a mutant: its place was executed; its value differed there; the program
//! did something else. Nothing here runs anything.

pub mod cover;
mod fate;
mod matrix;
mod mutant_set;
mod score;
pub mod survivors;
#[cfg(test)]
mod tests;

pub use self::{
    fate::Fate,
    matrix::{InputNumber, InputRow, KillMatrix},
    mutant_set::MutantSet,
    score::{Dropped, Score},
};
