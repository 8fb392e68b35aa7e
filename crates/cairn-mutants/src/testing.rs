//! Functions for tests, told in C: a parser for expressions that makes the map and the spots an instrumenter would.

mod evaluation;
mod parser;
mod scene;

pub use self::{
    evaluation::{Outcome, Store, run},
    parser::parse,
    scene::{Scene, Statement, single_site},
};
