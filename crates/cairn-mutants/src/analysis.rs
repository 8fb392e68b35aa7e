//! What running mutants says about a set of tests.
//!
//! A [`KillMatrix`] holds what each input did to each mutant. From it follow the [`Fate`] of every mutant, the
//! [`Score`] of the set and the [`survivors`] worth a look.
//!
//! ```text
//!   not reached ─► reached ─► infected ─► killed
//! ```
//! Each step is a stronger thing to say about a mutant: its place was executed; its value differed there; the program
//! did something else. Nothing here runs anything.

mod fate;
mod matrix;
mod score;
pub mod survivors;
#[cfg(test)]
mod tests;

pub use self::{
    fate::Fate,
    matrix::{InputNumber, InputRow, KillMatrix},
    score::{Dropped, Score},
};
pub use cairn_model::MutantSet;
