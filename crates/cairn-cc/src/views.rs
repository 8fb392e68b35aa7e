//! From an executable to its views: [`find()`] its record, then [`build_views`]. [`build_sanitized`] is no view, but is
//! found and linked like one.

mod alone;
mod build;
mod find;
mod gathered;
mod instrument;
mod link;
mod own_code;
mod sanitized;
mod search_path;

pub use alone::{Alone, build_alone};
pub use build::{DetailedView, MutantView, ViewError, ViewRequest, Views, build_views};
pub use find::{FindError, find};
pub use gathered::{CHOICE, build_gathered};
pub use sanitized::{Sanitizer, build_sanitized};
