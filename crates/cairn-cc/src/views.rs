//! From an executable to its views: [`find()`] its record, then [`build_views`].

mod build;
mod find;

pub use build::{ViewError, ViewRequest, Views, build_views};
pub use find::{FindError, find};
