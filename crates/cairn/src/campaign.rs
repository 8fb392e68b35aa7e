//! Campaigns, as the command line knows them.

mod lines;
pub mod plan;
mod start;
mod strategies;
mod views;

pub use self::start::{Told, start};
