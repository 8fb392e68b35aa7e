//! Inputs made smaller and easier to read, as long as they stay good for something.
//!
//! What an input is good for is a question that the caller answers, for several candidates at a time. [`reduce()`] asks it
//! about inputs with parts left out, large parts first, and then about inputs with simpler bytes:
//!
//! ```text
//!   whole files, arguments, variables of the environment ──► metadata ──► lines, words, bytes ──► numbers ──► bytes that read well
//! ```
//! and again, until a whole round changes nothing or the questions are used up. The same answers lead to the same input.

mod bytes;
mod interview;
mod numbers;
mod parts;
mod region;
mod rounds;

pub use self::{
    interview::{Keeps, ReduceConfig},
    rounds::{Reduced, reduce},
};
