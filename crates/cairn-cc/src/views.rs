//! From an executable to its views: [`find()`] its record, then [`build_views`].

mod alone;
mod build;
mod find;
mod instrument;
mod link;
mod search_path;

pub use alone::{Alone, build_alone};
pub use build::{DetailedView, MutantView, ViewError, ViewRequest, Views, build_views};
pub use find::{FindError, find};
