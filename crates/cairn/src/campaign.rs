//! Campaigns, as the command line knows them.

mod lines;
pub mod plan;
mod start;
mod views;

pub use self::start::{Told, start};
