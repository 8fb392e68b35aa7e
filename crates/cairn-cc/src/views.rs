//! From an executable to its views: [`find()`] its record, then [`build_views`].

mod build;
mod find;
mod search_path;

pub use build::{ViewError, ViewRequest, Views, build_views};
pub use find::{FindError, find};
