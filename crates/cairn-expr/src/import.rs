//! Expressions of a traced run.
//!
//! The run leaves a table of [`Node`]s, which an [`Importer`] reads as hostile: operations, widths, labels, regions and tables
//! are checked before use. Since a node also says which value it had, [`Importer::disagreements`] can hold every node against
//! our own evaluation.

mod decode;
mod verify;

use std::collections::HashMap;

use cairn_abi::symbolic::{Node, Op};

use crate::{
    check::Malformed,
    dag::Dag,
    node::{ExprId, ExprNode, TableId},
};

pub use verify::Disagreement;

/// Why a node of a run cannot be used. Every variant names its label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The label is 0, which is no value, or past the last.
    #[error("label {label} is not among the {n_nodes} nodes of the run")]
    Label {
        /// The label asked for.
        label: u32,
        /// How many there are, with the unused one.
        n_nodes: usize,
    },
    /// There is no such operation.
    #[error("label {label} has the unknown operation {number}")]
    Operation {
        /// Whose.
        label: u32,
        /// The number in place of an operation.
        number: u8,
    },
    /// An operand is missing, or not older than what is made of it.
    #[error("label {label} has the operand {operand}, which is not a smaller label")]
    Operand {
        /// Whose.
        label: u32,
        /// The operand.
        operand: u32,
    },
    /// There is no such region.
    #[error("label {label} is an input of the unknown region {region:#x}")]
    Region {
        /// Whose.
        label: u32,
        /// The number in place of a region.
        region: u32,
    },
    /// There is no such function.
    #[error("label {label} is the unknown mathematical function {number}")]
    Function {
        /// Whose.
        label: u32,
        /// The number in place of a function.
        number: u32,
    },
    /// The table does not lie inside the region of tables.
    #[error("label {label} has a table at {offset:#x}, which is not among the {size} bytes of tables")]
    Table {
        /// Whose.
        label: u32,
        /// Where the table should begin.
        offset: u64,
        /// The size of the region.
        size: usize,
    },
    /// A constant is larger than its width.
    #[error("label {label} is the constant {value:#x}, which does not fit its width")]
    Value {
        /// Whose.
        label: u32,
        /// The constant.
        value: u64,
    },
    /// Widths do not fit.
    #[error("label {label} makes no sense")]
    Malformed {
        /// Whose.
        label: u32,
        /// Why.
        source: Malformed,
    },
}

/// Reads the expressions of one run into a graph, each node once.
pub struct Importer<'a> {
    nodes: &'a [Node],
    tables: &'a [u8],
    imported: Vec<Option<ExprId>>,
    known_tables: HashMap<u32, TableId>,
}

impl<'a> Importer<'a> {
    /// For the nodes of a run, from the unused node 0 on, and the bytes of the tables region that are used.
    pub fn new(nodes: &'a [Node], tables: &'a [u8]) -> Self {
        Self { nodes, tables, imported: Vec::new(), known_tables: HashMap::new() }
    }

    /// The expression of a label, simplified. All calls must be given the same graph.
    pub fn label(&mut self, dag: &mut Dag, label: u32) -> Result<ExprId, ImportError> {
        let mut open = vec![label];
        while let Some(next) = open.last().copied() {
            if self.imported(next).is_some() {
                open.pop();
                continue;
            }
            let node = self.decode(next)?;
            let n_open = open.len();
            open.extend(
                node.operands().iter().map(|id| id.0).filter(|label| self.imported(*label).is_none()),
            );
            if open.len() == n_open {
                let id = self.import(dag, next, node);
                let index = next as usize;
                if self.imported.len() <= index {
                    self.imported.resize(index + 1, None);
                }
                self.imported[index] = Some(id);
                open.pop();
            }
        }
        Ok(self.imported(label).expect("it was imported"))
    }

    fn imported(&self, label: u32) -> Option<ExprId> {
        self.imported.get(label as usize).copied().flatten()
    }

    /// Builds a decoded node, whose operands are labels that were imported.
    fn import(&mut self, dag: &mut Dag, label: u32, node: ExprNode) -> ExprId {
        let labels = node.operands();
        let mut operands = [ExprId(0); 3];
        for (operand, label) in operands.iter_mut().zip(labels) {
            *operand = self.imported(label.0).expect("operands come first");
        }
        let operands = &operands[..labels.len()];
        let value = self.nodes[label as usize].value;
        match node.op() {
            Op::Constant => dag.constant(node.width(), value.into()),
            Op::Opaque => dag.opaque(node.width(), value.into(), operands),
            Op::Table => {
                let at = node.table_id().0;
                let bytes = self.table(at).expect("decoding found it");
                let table = *self.known_tables.entry(at).or_insert_with(|| dag.add_table(bytes));
                dag.table(table, operands[0], node.width())
            }
            _ => dag.build(node.on(operands)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::print;
    use cairn_abi::symbolic::{RegionId, RegionKind};

    fn node(op: Op, width: u16, a: u32, b: u32, c: u32) -> Node {
        Node { op: op as u8, width, a, b, c, ..Node::default() }
    }

    fn constant(width: u16, value: u64) -> Node {
        Node { value, ..node(Op::Constant, width, 0, 0, 0) }
    }

    fn import(nodes: &[Node], tables: &[u8]) -> Result<String, ImportError> {
        let mut dag = Dag::new();
        let nodes: Vec<Node> = [Node::default()].iter().chain(nodes).copied().collect();
        let label = nodes.len() as u32 - 1;
        let id = Importer::new(&nodes, tables).label(&mut dag, label)?;
        Ok(print(&dag, id))
    }

    #[test]
    fn nodes_become_simple_expressions() {
        let text = import(
            &[
                node(Op::Input, 8, 0, 3, 0),
                node(Op::ZExt, 32, 1, 0, 0),
                constant(32, 5),
                node(Op::Add, 32, 2, 3, 0),
                constant(32, 70),
                node(Op::Eq, 1, 4, 5, 0),
            ],
            &[],
        );
        assert_eq!(text.as_deref(), Ok("(eq (input stdin 3 8) (const 8 65))"));
    }

    #[test]
    fn tables_are_found_by_their_head() {
        let mut tables = vec![0; 8];
        tables.extend(0x1000u64.to_le_bytes());
        tables.extend(3u64.to_le_bytes());
        tables.extend([7, 8, 9, 0, 0, 0, 0, 0]);
        let nodes = [node(Op::Input, 64, 0, 0, 0), node(Op::Table, 8, 1, 1, 0)];
        let expected = "(let (($t0 (bytes 070809))) (table 8 $t0 (input stdin 0 64)))";
        assert_eq!(import(&nodes, &tables).as_deref(), Ok(expected));
        assert_eq!(import(&nodes, &tables[..26]), Err(ImportError::Table { label: 2, offset: 8, size: 26 }));
        let far = [nodes[0], node(Op::Table, 8, 1, u32::MAX, 0)];
        assert!(matches!(import(&far, &tables), Err(ImportError::Table { .. })));
    }

    #[test]
    fn what_a_hostile_target_writes_is_refused() {
        let input = node(Op::Input, 8, 0, 0, 0);
        let bad = |nodes: &[Node]| import(nodes, &[]).expect_err("it is not well formed");
        assert_eq!(
            bad(&[Node { op: 200, width: 8, ..Node::default() }]),
            ImportError::Operation { label: 1, number: 200 }
        );
        assert_eq!(bad(&[input, node(Op::Not, 8, 2, 0, 0)]), ImportError::Operand { label: 2, operand: 2 });
        assert_eq!(bad(&[input, node(Op::Not, 8, 9, 0, 0)]), ImportError::Operand { label: 2, operand: 9 });
        assert_eq!(bad(&[input, node(Op::Not, 8, 0, 0, 0)]), ImportError::Operand { label: 2, operand: 0 });
        assert_eq!(bad(&[constant(8, 256)]), ImportError::Value { label: 1, value: 256 });
        assert_eq!(
            bad(&[node(Op::Input, 8, u32::MAX, 0, 0)]),
            ImportError::Region { label: 1, region: u32::MAX }
        );
        let float = node(Op::Input, 64, 0, 0, 0);
        assert_eq!(
            bad(&[float, node(Op::Math, 64, 1, 0, 28)]),
            ImportError::Function { label: 2, number: 28 }
        );
        for malformed in [
            vec![node(Op::Input, 7, 0, 0, 0)],
            vec![node(Op::Input, 8, 0, u32::MAX, 0)],
            vec![node(Op::Input, 0, 0, 0, 0)],
            vec![node(Op::Input, 65535, 0, 0, 0)],
            vec![constant(65, 0)],
            vec![input, node(Op::Not, 9, 1, 0, 0)],
            vec![input, node(Op::Extract, 4, 1, 5, 0)],
            vec![input, node(Op::Extract, 4, 1, u32::MAX, 0)],
            vec![input, node(Op::ZExt, 8, 1, 0, 0)],
            vec![input, node(Op::FAdd, 8, 1, 1, 0)],
            vec![input, node(Op::Eq, 2, 1, 1, 0)],
            vec![input, node(Op::Ite, 8, 1, 1, 1)],
            vec![input, node(Op::Table, 8, 1, 0, 0)],
        ] {
            assert!(matches!(bad(&malformed), ImportError::Malformed { .. }), "{malformed:?}");
        }
        let mut importer = Importer::new(&[], &[]);
        assert_eq!(importer.label(&mut Dag::new(), 0), Err(ImportError::Label { label: 0, n_nodes: 0 }));
    }

    #[test]
    fn values_that_are_not_those_of_the_run_are_told() {
        let nodes = [
            Node::default(),
            Node { value: 0x61, ..node(Op::Input, 8, RegionId::new(RegionKind::Argument, 1).0, 2, 0) },
            Node { value: 0x9e, ..node(Op::Not, 8, 1, 0, 0) },
            Node { value: 0x60, ..node(Op::Neg, 8, 2, 0, 0) },
            Node { value: 0x9f, ..node(Op::Not, 8, 3, 0, 0) },
            Node { value: 1, ..node(Op::Opaque, 8, 4, 0, 0) },
        ];
        let importer = Importer::new(&nodes, &[]);
        let found = importer.disagreements(&|_, _| 0x61).expect("they are well formed");
        let first = Disagreement { label: 3, recorded: 0x60, computed: 0x62, is_first: true };
        let next = Disagreement { label: 4, recorded: 0x9f, computed: 0x9d, is_first: false };
        assert_eq!(found, [first, next]);
    }

    #[test]
    fn any_two_that_are_not_numbers_agree() {
        let nodes = [
            Node::default(),
            Node { value: 0x7ff8_0000_0000_0000, ..node(Op::Input, 64, 0, 0, 0) },
            Node { value: 0xfff8_0000_0000_0001, ..node(Op::FAdd, 64, 1, 1, 0) },
        ];
        let input = 0x7ff8_0000_0000_0000u64.to_le_bytes();
        let importer = Importer::new(&nodes, &[]);
        let found = importer.disagreements(&|_: RegionId, at: u32| input[at as usize]);
        assert_eq!(found, Ok(Vec::new()));
    }
}
