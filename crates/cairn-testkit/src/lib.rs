//! Helpers for tests that need an instrumented program.
//!
//! [`dist`] finds what `cargo xtask dist` assembled, [`fixture`] a program in `fixtures/`, and a [`Workspace`] is a
//! folder to build and run it in. [`reference`] is coverage and [`mutants`] are mutants as independent builds see them;
//! [`SymbolicBuild`] is a program with the view that follows values, [`BasicPathBuild`] one with the view that counts paths.
//! Everything here panics with the whole story, because a test has nobody to return an
//! error to.

mod basic_paths;
mod dist;
pub mod mutants;
mod ran;
pub mod reference;
mod symbolic;
mod views;
mod workspace;

pub use crate::{
    basic_paths::BasicPathBuild,
    dist::{Dist, dist},
    ran::Ran,
    symbolic::{SymbolicBuild, bitcode_of},
    workspace::{Workspace, fixture},
};
