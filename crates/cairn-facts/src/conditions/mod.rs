//! Conditions and decisions in the order clang emits code for them.
//!
//! `walk` follows clang's code generation through statements and expressions; `statements` knows
//! the order of their parts; `header` sorts out which child of a statement is which.

mod header;
mod statements;
mod walk;

pub use self::{header::for_parts, walk::find};
