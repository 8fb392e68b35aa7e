//! What the values of a run are made of.
//!
//! A [`Dag`] holds expressions over input bytes, each named by (region, offset, width), so that an expression needs nothing
//! else to be stored, printed, or evaluated on another input. The operations are those of [`cairn_abi::symbolic::Op`], and
//! their meaning is the one written there.
//!
//! Expressions come from a traced run ([`import`]), from text ([`parse()`]), from a file ([`store`]), or from the constructors
//! of [`Dag`], which simplify as they build. They are evaluated once ([`evaluate()`], [`Evaluator`]) or many times ([`Tape`]).
//!
//! Nothing here knows a solver, a path or a target. No function recurses over an expression: loops make chains of a hundred
//! thousand nodes.

mod bits;
mod build;
mod check;
mod copy;
mod dag;
mod evaluate;
mod hash;
mod inputs;
mod node;
mod possible;
mod simplify;
mod tape;
mod value;

pub use crate::{
    bits::{MAX_WIDTH, mask, signed},
    check::Malformed,
    dag::Dag,
    evaluate::{Bytes, Evaluator, evaluate},
    inputs::{InputByte, InputRange},
    node::{ExprId, ExprNode, Operands, TableId, arity, is_commutative, is_comparison},
    simplify::simplify,
    tape::{Machine, Slice, Tape},
};
pub use cairn_abi::symbolic::{MathFunction, Op, RegionId, RegionKind};
