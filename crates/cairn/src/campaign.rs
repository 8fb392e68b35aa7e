//! Campaigns, as the command line knows them.

mod face;
mod lines;
mod live;
pub mod plan;
mod start;
mod views;

pub use self::start::{Told, start};
