//! Places and text behind libclang's locations.

mod scan;
mod sources;

pub use self::{
    scan::{ForHeader, Scanner},
    sources::{Sources, Span},
};
