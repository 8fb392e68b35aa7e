//! Every mutation operator: what it is called, what it means, and what it proposes where.
//!
//! An [`Operator`] looks at one spot and proposes zero or more changes; one file a family. [`generate`] asks all operators
//! of an [`OperatorSet`] about all spots of a function. Nothing here depends on anything but its arguments, so the same
//! source gives the same mutants in the same order.
//!
//! Names are ours; codes are those of Agrawal et al., *Design of Mutant Operators for the C Programming Language*
//! (1989), which DEMINER's Table I uses, and of PIT, whose default operators Mu2 uses.

mod assignments;
mod binary;
mod casts;
mod conditions;
mod constants;
mod context;
mod effects;
mod extras;
mod generate;
mod logical;
mod mathematics;
mod negations;
mod operator;
mod returns;
mod sets;
mod text;
mod variables;

pub use self::{
    generate::generate,
    operator::{Example, Maker, Operator, Set},
    sets::{OperatorSet, UnknownOperator},
    variables::MAX_ALTERNATIVES,
};

/// Every operator, in the order in which a spot's mutants are proposed.
pub fn operators() -> impl Iterator<Item = &'static Operator> {
    [
        conditions::OPERATORS,
        mathematics::OPERATORS,
        binary::OPERATORS,
        negations::OPERATORS,
        logical::OPERATORS,
        assignments::OPERATORS,
        constants::OPERATORS,
        variables::OPERATORS,
        casts::OPERATORS,
        returns::OPERATORS,
        extras::OPERATORS,
    ]
    .into_iter()
    .flatten()
}

/// The operator with this name or code.
pub fn find(name: &str) -> Option<&'static Operator> {
    operators().find(|operator| operator.name == name || operator.code.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;
