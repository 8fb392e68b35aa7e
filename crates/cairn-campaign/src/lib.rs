//! Makes much of a few inputs.
//!
//! [`minimize`] finds the fewest inputs that are together as good as all. [`reduce`] makes one input smaller and easier to
//! read while it stays good for what it is kept for.
//!
//! Neither runs anything: what inputs are good for is handed in, as sets and as a question that the caller answers.

pub mod minimize;
pub mod reduce;
