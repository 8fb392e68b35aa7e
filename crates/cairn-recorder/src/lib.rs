//! Stands in for a program while its test suite runs and keeps every call as an input.
//!
//! `cairn record` puts a copy of the program `cairn-recorder` where the suite expects the program under test. The copy
//! carries its [`Settings`] at its own end, because suites clear the environment, change folders and copy what they
//! test. At each call the recorder [`capture`]s what the program is about to consume, writes it as a
//! [`cairn_model::Input`] named by its content, tells the [`journal`], and becomes the program.
//!
//! Nothing is taken from the program: pipes are looked into with `tee`, files are read at their own offsets, and the
//! program is started with the same arguments, environment, descriptors and signals. Capturing happens in a child, so
//! whatever goes wrong there, the program runs.
//!
//! This crate knows neither how the recorder gets into its place nor how it leaves it: that is `cairn record`.

mod arguments;
mod capture;
pub mod environment;
mod files;
pub mod journal;
mod reasons;
pub mod settings;
mod standard_input;

pub use crate::{
    capture::{Call, Captured, capture, keep},
    reasons::{LeftOut, Note},
    settings::{Limits, Settings},
};
