//! Mutants of real programs: what they cost, how fast they run, and whether they are believed rightly.

mod counts;
mod edits;
mod process;
mod speed;
mod subject;
mod truth;
mod view;

pub use self::{counts::counts, counts::score, speed::speed, truth::truth, view::view};

/// Who is measured.
pub const ALL: &[&str] = &["sort", "grep"];

/// Who is scored against the clock.
pub const SCORED: &[&str] = &["grep"];
