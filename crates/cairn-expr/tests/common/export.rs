//! Nodes as a target would write them.

use cairn_abi::symbolic::{Node, Op};
use cairn_expr::{Bytes, Dag, Evaluator, ExprId};

/// The table of nodes, the bytes of the tables region, and the label of each root.
pub fn export(dag: &Dag, roots: &[ExprId], bytes: &impl Bytes) -> (Vec<Node>, Vec<u8>, Vec<u32>) {
    let mut exporter = Exporter { nodes: vec![Node::default()], tables: Vec::new() };
    let mut evaluator = Evaluator::new(dag, bytes);
    let reachable = dag.reachable(roots);
    let mut labels: Vec<u32> = Vec::new();
    for id in &reachable {
        let place = |id: ExprId| labels[reachable.binary_search(&id).expect("operands are reachable")];
        let value = evaluator.value(*id);
        let label = exporter.node(dag, *id, value, place);
        labels.push(label);
    }
    let root = |id: &ExprId| labels[reachable.binary_search(id).expect("roots are reachable")];
    let roots = roots.iter().map(root).collect();
    (exporter.nodes, exporter.tables, roots)
}

struct Exporter {
    nodes: Vec<Node>,
    tables: Vec<u8>,
}

impl Exporter {
    fn node(&mut self, dag: &Dag, id: ExprId, value: u128, place: impl Fn(ExprId) -> u32) -> u32 {
        let node = dag.node(id);
        let width = node.width();
        if width > 64 && node.op() == Op::Constant {
            let high = self.push(Op::Constant, width - 64, [0; 3], value >> 64);
            let low = self.push(Op::Constant, 64, [0; 3], value & u128::from(u64::MAX));
            return self.push(Op::Concat, width, [high, low, 0], value);
        }
        let mut fields = [0; 3];
        for (field, operand) in fields.iter_mut().zip(node.operands()) {
            *field = place(operand);
        }
        match node.op() {
            Op::Input => {
                let (region, offset) = node.place();
                fields = [region.0, offset, 0];
            }
            Op::Extract => fields[1] = node.low(),
            Op::Math => fields[2] = node.function() as u32,
            Op::Table => {
                fields[1] = self.tables.len() as u32 / 8;
                let bytes = dag.table_bytes(node.table_id());
                self.tables.extend(0xdead_beefu64.to_le_bytes());
                self.tables.extend((bytes.len() as u64).to_le_bytes());
                self.tables.extend(bytes);
                self.tables.resize(self.tables.len().next_multiple_of(8), 0);
            }
            _ => {}
        }
        self.push(node.op(), width, fields, value)
    }

    fn push(&mut self, op: Op, width: u32, [a, b, c]: [u32; 3], value: u128) -> u32 {
        let (op, width, value) = (op as u8, width as u16, value as u64);
        self.nodes.push(Node { op, width, a, b, c, value, ..Node::default() });
        self.nodes.len() as u32 - 1
    }
}
