//! What a guidepost asks, as a condition on the input.

use cairn_abi::mutants::{Guidepost, MAX_GUIDEPOST_VALUES, Predicate, ValueKind};
use cairn_expr::{Dag, ExprId, Op};

/// The condition, of width 1, that an expression's value satisfies a guidepost; none where that cannot be said.
pub fn condition(dag: &mut Dag, guidepost: &Guidepost, expression: ExprId) -> Option<ExprId> {
    if dag.width(expression) != guidepost.bits {
        return None;
    }
    let n_values = (guidepost.n_values as usize).min(MAX_GUIDEPOST_VALUES);
    let values = &guidepost.values[..n_values];
    let is = |predicate: Predicate| guidepost.predicate == predicate as u32;
    if is(Predicate::OneOf) || is(Predicate::NoneOf) {
        let mut any = dag.constant(1, 0);
        for value in values {
            let equal = equals(dag, guidepost, expression, *value);
            any = dag.binary(Op::Or, any, equal);
        }
        return Some(if is(Predicate::OneOf) { any } else { dag.unary(Op::Not, any) });
    }
    if let (true, [least, greatest, ..]) = (is(Predicate::Between), values) {
        let least = dag.constant(dag.width(expression), (*least).into());
        let greatest = dag.constant(dag.width(expression), (*greatest).into());
        let above = at_most(dag, guidepost, least, expression);
        let below = at_most(dag, guidepost, expression, greatest);
        return Some(dag.binary(Op::And, above, below));
    }
    None
}

/// Floating-point numbers are also equal when their bits are.
fn equals(dag: &mut Dag, guidepost: &Guidepost, expression: ExprId, value: u64) -> ExprId {
    let value = dag.constant(dag.width(expression), value.into());
    let same_bits = dag.compare(Op::Eq, expression, value);
    if !is_float(guidepost) {
        return same_bits;
    }
    let same_number = dag.compare(Op::FEq, expression, value);
    dag.binary(Op::Or, same_bits, same_number)
}

fn at_most(dag: &mut Dag, guidepost: &Guidepost, left: ExprId, right: ExprId) -> ExprId {
    if is_float(guidepost) {
        let same_bits = dag.compare(Op::Eq, left, right);
        let below = dag.compare(Op::FLe, left, right);
        return dag.binary(Op::Or, same_bits, below);
    }
    let is_signed = guidepost.kind == ValueKind::Signed as u32;
    dag.compare(if is_signed { Op::SLe } else { Op::ULe }, left, right)
}

fn is_float(guidepost: &Guidepost) -> bool {
    guidepost.kind == ValueKind::Float as u32
}
