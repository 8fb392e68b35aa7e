//! What expressions look like, whichever bytes of the input they are made of.

use cairn_expr::{Dag, Op};

/// A hash for every expression of a graph, by its place in the order of creation. Expressions that differ only in the offsets
/// of the bytes they read have the same.
pub fn shapes(dag: &Dag) -> Vec<u64> {
    let mut shapes: Vec<u64> = Vec::with_capacity(dag.len());
    for id in (0..dag.len()).filter_map(|index| dag.id(index)) {
        let node = dag.node(id);
        let mut shape = mix(node.op() as u64, node.width().into());
        for operand in node.operands() {
            shape = mix(shape, shapes[operand.index()]);
        }
        let detail = match node.op() {
            Op::Constant => dag.constant_value(id).unwrap_or_default() as u64,
            Op::Input => node.place().0.kind().map_or(0, |kind| kind as u64),
            Op::Extract => node.low().into(),
            Op::Math => node.function() as u64,
            _ => 0,
        };
        shapes.push(mix(shape, detail));
    }
    shapes
}

/// Joins two hashes.
pub fn mix(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_expr::{RegionId, RegionKind};

    #[test]
    fn offsets_do_not_matter_and_constants_do() {
        let mut dag = Dag::new();
        let stdin = RegionId::new(RegionKind::Stdin, 0);
        let mut is = |offset, value| {
            let byte = dag.input(stdin, offset, 8);
            let value = dag.constant(8, value);
            dag.compare(Op::Eq, byte, value)
        };
        let [a, b, c] = [is(0, 7), is(5, 7), is(0, 8)];
        let shapes = shapes(&dag);
        assert_eq!(shapes[a.index()], shapes[b.index()]);
        assert_ne!(shapes[a.index()], shapes[c.index()]);
    }
}
