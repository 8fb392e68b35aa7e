//! What the values of a run are made of.
//!
//! A [`Dag`] holds expressions over input bytes, each named by (region, offset, width), so that an expression needs nothing
//! else to be stored, printed, or evaluated on another input. The operations are those of [`cairn_abi::symbolic::Op`], and
//! their meaning is the one written there.
//!
//! Expressions come from a traced run ([`import`]), from text ([`parse()`]), from a file ([`store`]), or from the constructors
//! of [`Dag`], which simplify as they build. They are evaluated once ([`evaluate()`], [`Evaluator`]) or many times ([`Tape`]),
//! and written for machines ([`print()`]) or for people ([`infix()`]).
//!
//! An *opaque* expression is something nobody follows. It keeps its value on every input, but what it depended on still
//! counts: [`Dag::inputs`] tells of all bytes, [`Dag::reads`] of those that evaluation sees.
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
pub mod import;
mod infix;
mod inputs;
mod names;
mod node;
mod parse;
mod possible;
mod print;
mod simplify;
pub mod store;
mod tape;
mod value;

pub use cairn_abi::symbolic::{MathFunction, Op, RegionId, RegionKind};

pub use crate::{
    bits::{MAX_WIDTH, mask, signed},
    check::Malformed,
    dag::Dag,
    evaluate::{Bytes, Evaluator, evaluate, evaluate_all},
    hash::BuildMix,
    infix::{DEFAULT_OPERATIONS, infix},
    inputs::{InputByte, InputRange},
    names::{region_name, region_named},
    node::{ExprId, ExprNode, Operands, TableId, arity, is_commutative, is_comparison},
    parse::{ParseError, ParseErrorReason, parse},
    print::print,
    simplify::simplify,
    tape::{Machine, Slice, Tape},
};
