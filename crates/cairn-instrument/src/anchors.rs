//! Finds expressions of the source in the bitcode.
//!
//! clang gives every instruction the place of the expression it computes. An expression is *anchored* where exactly
//! one instruction of the right kind stands at its place, or, in macros, where as many stand there as expressions
//! want, in order. What does not fit is left out and counted, never guessed.

use crate::ir::Definition;
use cairn_model::{FunctionId, mutants::UnmutatedReason};
use cairn_mutants::site::MutableFunction;

/// The anchored expressions of a module.
#[derive(Debug, Default)]
pub struct Anchors {
    /// Functions in scope with at least one anchored expression, by function id.
    pub functions: Vec<AnchoredFunction>,
    /// Functions in scope without.
    pub unmutated: Vec<(FunctionId, UnmutatedReason)>,
    /// Expressions with code that could not be told apart from others at their place.
    pub n_ambiguous: u32,
}

/// One function: what the catalogue is told, and where that is in the code.
#[derive(Debug)]
pub struct AnchoredFunction {
    /// Its copies in the module, by index; all have the same positions.
    pub members: Vec<usize>,
    /// What the catalogue is told.
    pub mutable: MutableFunction,
    /// Where each of its spots is, in the same order.
    pub anchors: Vec<Anchor>,
    /// Where each of its variables is, in the same order.
    pub variables: Vec<VariableAt>,
}

/// Where a spot is. Positions are those of the unchanged function.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    /// What is replaced.
    pub at: At,
    /// Where each operand of the spot is found.
    pub operands: Vec<OperandAt>,
}

/// What a patch replaces.
#[derive(Debug, Clone, PartialEq)]
pub enum At {
    /// The result of an instruction, wherever it is used.
    Result(Definition),
    /// One operand of an instruction, only there: an instruction, an operand number.
    Operand(Definition, u32),
    /// `&&` or `||`.
    Logical(LogicalAt),
}

/// Where a logical operator is.
///
/// ```text
///   a && b:   every way out of `a` when true leads to `right`, when false past it
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LogicalAt {
    /// Whether it is `&&`.
    pub is_and: bool,
    /// The edges on which the left side leaves, as (block, successor number), when it is true.
    pub left_true: Vec<(usize, u32)>,
    /// The edges on which the left side leaves when it is false.
    pub left_false: Vec<(usize, u32)>,
    /// The block in which evaluation of the right side begins.
    pub right: usize,
    /// How the result leaves.
    pub result: LogicalResult,
}

/// How the result of a logical operator leaves it.
#[derive(Debug, Clone, PartialEq)]
pub enum LogicalResult {
    /// By branches: the edges on which the right side leaves when true, and when false.
    Branches {
        /// When true.
        right_true: Vec<(usize, u32)>,
        /// When false.
        right_false: Vec<(usize, u32)>,
        /// Where the whole goes when true.
        when_true: usize,
        /// Where the whole goes when false.
        when_false: usize,
    },
    /// By a phi of truth values; the right side arrives from the block `from`.
    Phi {
        /// The phi.
        phi: Definition,
        /// Where the right side arrives from.
        from: usize,
        /// The `zext` that is its only use, if there is one: then the value is used as a number.
        extended: Option<Definition>,
    },
}

/// Where an operand of a spot is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OperandAt {
    /// The operand of an instruction.
    Operand(Definition, u32),
    /// The result of an instruction.
    Result(Definition),
    /// What lies where the pointer operand of a store points, before it stores.
    Target(Definition),
}

/// Where a variable is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableAt {
    /// The result of an `alloca`.
    Local(Definition),
    /// A global, by its symbol.
    Global(String),
}
