//! Asks for an input on which a mutant makes a difference.

use crate::{
    event::Event,
    flip::{Flip, solve},
    path::Path,
};
use cairn_expr::{Dag, ExprId, Op};
use cairn_model::{
    mutants::{BinaryOperation, Comparison, Conversion, Formula, Node, NodeIndex, UnaryOperation, ValueType},
    sites::Probe,
};
use cairn_solver::{Budget, Solver};

/// Asks for an input that takes the same way up to the evaluation of a site at `probe`, where the value that `mutant` computes
/// instead is another.
///
/// [`Flip::NotSymbolic`] where the difference does not depend on the input, or depends on something that the recording does
/// not tell: other variables, addresses, a third operand.
pub fn infect(
    path: &mut Path,
    step: usize,
    mutant: &Formula,
    probe: &Probe,
    solver: &mut dyn Solver,
    budget: Budget,
) -> Flip {
    let Event::SiteValue { expression: Some(expression), operands, .. } = path.steps()[step].event else {
        return Flip::NotSymbolic;
    };
    let is_float = |value_type: &ValueType| matches!(value_type, ValueType::Float { .. });
    let original = Typed { id: expression, is_float: is_float(&probe.value_type) };
    let operands: Vec<Option<Typed>> = operands
        .iter()
        .zip(&probe.operands)
        .map(|(id, value_type)| id.map(|id| Typed { id, is_float: is_float(value_type) }))
        .collect();
    let dag = path.dag_mut();
    let Some(changed) = build(dag, mutant, original, &operands) else { return Flip::NotSymbolic };
    if dag.width(changed.id) != dag.width(expression) {
        return Flip::NotSymbolic;
    }
    let differs = dag.compare(Op::Ne, expression, changed.id);
    if dag.is_fixed(differs) {
        return Flip::NotSymbolic;
    }
    solve(path, step, differs, solver, budget)
}

/// An expression and how its bits are meant.
#[derive(Clone, Copy)]
struct Typed {
    id: ExprId,
    is_float: bool,
}

fn integer(id: ExprId) -> Typed {
    Typed { id, is_float: false }
}

fn float(id: ExprId) -> Typed {
    Typed { id, is_float: true }
}

/// A formula over the values at a patch.
fn build(dag: &mut Dag, formula: &Formula, original: Typed, operands: &[Option<Typed>]) -> Option<Typed> {
    let mut built: Vec<Typed> = Vec::with_capacity(formula.nodes.len());
    for node in &formula.nodes {
        let at = |index: &NodeIndex| built.get(*index as usize).copied();
        let value = match node {
            Node::Original => original,
            Node::Operand(number) => (*operands.get(*number as usize)?)?,
            Node::Integer(value_type, value) => {
                integer(dag.constant(integer_width(*value_type)?, i128::from(*value).cast_unsigned()))
            }
            Node::Float(ValueType::Float { bits: 32 }, bits) => {
                let value = f64::from_bits(*bits) as f32;
                float(dag.constant(32, value.to_bits().into()))
            }
            Node::Float(_, bits) => float(dag.constant(64, (*bits).into())),
            Node::Variable(_) | Node::AddressOf(_) | Node::Offset(..) => return None,
            Node::Unary(operation, of) => unary(dag, *operation, at(of)?)?,
            Node::Binary(operation, left, right) => binary(dag, *operation, at(left)?, at(right)?)?,
            Node::Compare(comparison, left, right) => compare(dag, *comparison, at(left)?, at(right)?)?,
            Node::Convert(conversion, to, from) => convert(dag, *conversion, *to, at(from)?)?,
        };
        built.push(value);
    }
    built.last().copied()
}

fn integer_width(value_type: ValueType) -> Option<u32> {
    match value_type {
        ValueType::Bool => Some(1),
        ValueType::Int { bits, .. } => Some(bits.into()),
        ValueType::Float { .. } | ValueType::Pointer => None,
    }
}

fn unary(dag: &mut Dag, operation: UnaryOperation, of: Typed) -> Option<Typed> {
    Some(match (operation, of.is_float) {
        (UnaryOperation::Negate, true) => float(dag.unary(Op::FNeg, of.id)),
        (UnaryOperation::Negate, false) => integer(dag.unary(Op::Neg, of.id)),
        (UnaryOperation::Complement, false) => integer(dag.unary(Op::Not, of.id)),
        (UnaryOperation::Absolute, false) => {
            let zero = dag.constant(dag.width(of.id), 0);
            let is_negative = dag.compare(Op::SLt, of.id, zero);
            let negated = dag.unary(Op::Neg, of.id);
            integer(dag.ite(is_negative, negated, of.id))
        }
        (UnaryOperation::Complement | UnaryOperation::Absolute, true) => return None,
    })
}

fn binary(dag: &mut Dag, operation: BinaryOperation, left: Typed, right: Typed) -> Option<Typed> {
    use BinaryOperation::*;
    if dag.width(left.id) != dag.width(right.id) || left.is_float != right.is_float {
        return None;
    }
    let op = match (operation, left.is_float) {
        (Add, true) => Op::FAdd,
        (Subtract, true) => Op::FSub,
        (Multiply, true) => Op::FMul,
        (FloatDivide, true) => Op::FDiv,
        (_, true) | (FloatDivide, false) => return None,
        (Add, false) => Op::Add,
        (Subtract, false) => Op::Sub,
        (Multiply, false) => Op::Mul,
        (SignedDivide, false) => Op::SDiv,
        (UnsignedDivide, false) => Op::UDiv,
        (SignedRemainder, false) => Op::SRem,
        (UnsignedRemainder, false) => Op::URem,
        (ShiftLeft, false) => Op::Shl,
        (ShiftRightUnsigned, false) => Op::LShr,
        (ShiftRightSigned, false) => Op::AShr,
        (And, false) => Op::And,
        (Or, false) => Op::Or,
        (Xor, false) => Op::Xor,
    };
    let right = match op {
        // Mutants take the amount modulo the width.
        Op::Shl | Op::LShr | Op::AShr => {
            let width = dag.width(right.id);
            let most = dag.constant(width, u128::from(width.next_power_of_two() - 1));
            dag.binary(Op::And, right.id, most)
        }
        _ => right.id,
    };
    Some(Typed { id: dag.binary(op, left.id, right), is_float: left.is_float })
}

fn compare(dag: &mut Dag, comparison: Comparison, left: Typed, right: Typed) -> Option<Typed> {
    use Comparison::*;
    if dag.width(left.id) != dag.width(right.id) || left.is_float != right.is_float {
        return None;
    }
    let op = match (comparison, left.is_float) {
        (Equal | NotEqual, true) => Op::FEq,
        (FloatLess, true) => Op::FLt,
        (FloatLessOrEqual, true) => Op::FLe,
        (Equal, false) => Op::Eq,
        (NotEqual, false) => Op::Ne,
        (SignedLess, false) => Op::SLt,
        (SignedLessOrEqual, false) => Op::SLe,
        (UnsignedLess, false) => Op::ULt,
        (UnsignedLessOrEqual, false) => Op::ULe,
        (_, true) | (FloatLess | FloatLessOrEqual, false) => return None,
    };
    let truth = dag.compare(op, left.id, right.id);
    Some(integer(if (comparison, left.is_float) == (NotEqual, true) { dag.not(truth) } else { truth }))
}

fn convert(dag: &mut Dag, conversion: Conversion, to: ValueType, from: Typed) -> Option<Typed> {
    let width = match to {
        ValueType::Float { bits } => bits.into(),
        other => integer_width(other)?,
    };
    let had = dag.width(from.id);
    Some(match (conversion, from.is_float) {
        (Conversion::Truncate, false) if width < had => integer(dag.extract(from.id, 0, width)),
        (Conversion::ZeroExtend, false) if width > had => integer(dag.zext(from.id, width)),
        (Conversion::SignExtend, false) if width > had => integer(dag.sext(from.id, width)),
        (Conversion::SignedToFloat, false) => float(dag.convert(Op::SignedToF, from.id, width)),
        (Conversion::UnsignedToFloat, false) => float(dag.convert(Op::UnsignedToF, from.id, width)),
        (Conversion::FloatToSigned, true) => integer(dag.convert(Op::FToSigned, from.id, width)),
        (Conversion::FloatToUnsigned, true) => integer(dag.convert(Op::FToUnsigned, from.id, width)),
        (Conversion::FloatToFloat, true) => float(dag.convert(Op::FToF, from.id, width)),
        _ => return None,
    })
}
