//! Small questions about expressions that several solvers ask.

use cairn_expr::{Dag, ExprId, InputByte, Op};

/// The bytes that decide the values of some expressions, each once and in their order.
pub fn bytes_read_by(dag: &Dag, ids: impl IntoIterator<Item = ExprId>) -> impl Iterator<Item = InputByte> {
    dag.reads_of(ids).into_iter().flat_map(|range| range.bytes())
}

/// All parts of some expressions whose value can change with the input, operands first.
///
/// Parts of opaque values are not among them: those keep the value they had.
pub fn changeable(dag: &Dag, roots: &[ExprId]) -> Vec<ExprId> {
    let mut parts = dag.evaluated(roots);
    parts.retain(|part| !dag.is_fixed(*part));
    parts
}

/// Whether an operation computes with floating-point numbers.
pub fn is_floating(op: Op) -> bool {
    reads_floats(op) || matches!(op, Op::SignedToF | Op::UnsignedToF)
}

/// Whether the operands of an operation are floating-point numbers.
pub fn reads_floats(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FRem
            | Op::FNeg
            | Op::FEq
            | Op::FLt
            | Op::FLe
            | Op::FUnordered
            | Op::FToSigned
            | Op::FToUnsigned
            | Op::FToF
            | Op::Math
    )
}

/// Whether all of `small` are in `large`; both are sorted.
pub fn is_subset(small: &[u64], large: &[u64]) -> bool {
    let mut rest = large.iter();
    small.iter().all(|wanted| rest.by_ref().any(|candidate| candidate == wanted))
}
