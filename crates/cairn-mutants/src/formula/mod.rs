//! Formulas by C's rules: made with a [`Builder`], computed with [`evaluate`].
//!
//! A [`BinaryOperator`] is what C writes; the builder turns it into the operations of
//! [`cairn_model::mutants`], which know neither promotion nor signedness. Ill-typed requests (`%` on floats, arithmetic on
//! pointers) have no formula.

mod builder;
mod evaluate;
mod operators;
#[cfg(test)]
mod properties;
pub mod types;
mod value;

pub use self::{
    builder::{Builder, Expression},
    evaluate::{Trap, VariableValue, evaluate},
    operators::{BinaryOperator, Family},
    value::Value,
};
