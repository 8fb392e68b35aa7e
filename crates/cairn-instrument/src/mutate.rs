//! Mutants built into views.
//!
//! ```text
//!   anchors ──catalogue──► Draft ──prune──► Draft ──► MutantTable
//!                                             │
//!              main object ◄──────────────────┼──► objects with mutated and with examined bodies
//! ```
//! The mutant view is linked from objects that all start from the same bitcode. In the main one every mutated function
//! chooses its body at entry ([`dispatch`]). A [mutated](switched) body holds all mutants of its function; an
//! [examined] one computes the original and notes which mutants would differ.
//!
//! What comes from one text changes together, however often it was compiled ([`instances`]).
//!
//! No function is copied inside a module: every object is made from a copy of the whole bitcode, and loses what it
//! does not define ([`modules`]).

pub mod build;
mod checked;
pub mod dispatch;
pub mod draft;
pub mod examined;
pub mod formula;
pub mod gathered;
pub mod instances;
mod littered;
mod logical;
pub mod modules;
pub mod objects;
pub mod prune;
pub mod resolve;
pub mod switched;
mod tame;

#[cfg(test)]
mod tests;
