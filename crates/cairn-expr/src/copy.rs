//! Expressions of one graph in another.

use cairn_abi::symbolic::Op;

use crate::{
    dag::Dag,
    node::{ExprId, ExprNode},
};

/// Copies expressions and all they are made of, each node as `add` takes it. Returns what became of the roots.
pub(crate) fn copy(
    from: &Dag,
    roots: &[ExprId],
    into: &mut Dag,
    mut add: impl FnMut(&mut Dag, ExprNode) -> ExprId,
) -> Vec<ExprId> {
    let reachable = from.reachable(roots);
    let mut copies: Vec<ExprId> = Vec::with_capacity(reachable.len());
    let place = |id: ExprId| reachable.binary_search(&id).expect("operands are reachable");
    for id in &reachable {
        let node = *from.node(*id);
        let operands: Vec<ExprId> = node.operands().iter().map(|operand| copies[place(*operand)]).collect();
        let copied = match node.op {
            Op::Constant => into.constant(node.width(), from.constant_value(*id).expect("it is a constant")),
            Op::Opaque => into.opaque(node.width(), from.opaque_value(*id).expect("it is opaque"), &operands),
            Op::Table => {
                let table = into.add_table(from.table_bytes(node.table_id()));
                add(into, ExprNode::table(table, operands[0], node.width()))
            }
            _ => add(into, node.on(&operands)),
        };
        copies.push(copied);
    }
    roots.iter().map(|root| copies[place(*root)]).collect()
}
