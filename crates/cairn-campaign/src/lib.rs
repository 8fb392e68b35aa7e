//! Makes much of a few inputs.
//!
//! [`minimize`] finds the fewest inputs that are together as good as all.
//!
//! It runs nothing: what inputs are good for is handed in, as sets.

pub mod minimize;
