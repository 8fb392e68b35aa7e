//! Nodes of a run, checked.

use cairn_abi::symbolic::{MathFunction, Op, RegionId, TableHead};

use crate::{
    bits::{MAX_WIDTH, mask},
    check::{Malformed, check_widths},
    import::{ImportError, Importer},
    node::{ExprId, ExprNode, TableId, arity},
};

impl<'a> Importer<'a> {
    /// A node whose operands are labels, all smaller than its own, and whose widths fit. The table of a table node is where
    /// its head lies, divided by 8; it lies inside the region.
    pub(super) fn decode(&self, label: u32) -> Result<ExprNode, ImportError> {
        let node = match self.nodes.get(label as usize) {
            Some(node) if label != 0 => node,
            _ => return Err(ImportError::Label { label, n_nodes: self.nodes.len() }),
        };
        let op = Op::from_target(node.op).ok_or(ImportError::Operation { label, number: node.op })?;
        let width = u32::from(node.width);
        let malformed = |source| ImportError::Malformed { label, source };
        let most = if op == Op::Constant { 64 } else { MAX_WIDTH };
        if width == 0 || width > most {
            return Err(malformed(Malformed::Width { op, width }));
        }
        let operand = |operand: u32| match operand {
            1.. if operand < label => Ok(ExprId(operand)),
            _ => Err(ImportError::Operand { label, operand }),
        };
        let operands = |n: usize| {
            let mut ids = [ExprId(0); 3];
            for (id, label) in ids.iter_mut().zip([node.a, node.b, node.c]).take(n) {
                *id = operand(label)?;
            }
            Ok(ids)
        };
        let decoded = match op {
            Op::Constant if u128::from(node.value) > mask(width) => {
                return Err(ImportError::Value { label, value: node.value });
            }
            Op::Constant => ExprNode { op, width: width as u8, a: 0, b: 0, c: 0 },
            Op::Input => {
                let region = RegionId(node.a);
                if region.kind().is_none() {
                    return Err(ImportError::Region { label, region: node.a });
                }
                ExprNode::input(region, node.b, width)
            }
            Op::Opaque => {
                let dependencies = [node.a, node.b].into_iter().filter(|label| *label != 0);
                let dependencies: Vec<ExprId> = dependencies.map(operand).collect::<Result<_, _>>()?;
                ExprNode::opaque(width, 0, &dependencies)
            }
            Op::Extract => ExprNode::extract(operand(node.a)?, node.b, width),
            Op::Table => {
                let decoded = ExprNode::table(TableId(node.b), operand(node.a)?, width);
                let size = self.tables.len();
                if self.table(node.b).is_none() && self.widths_fit(&decoded).is_ok() {
                    return Err(ImportError::Table { label, offset: u64::from(node.b) * 8, size });
                }
                decoded
            }
            Op::Math => {
                let function = MathFunction::from_target(node.c)
                    .ok_or(ImportError::Function { label, number: node.c })?;
                let n = function.arity();
                ExprNode::math(function, width, &operands(n)?[..n])
            }
            op => {
                let n = arity(op).expect("all others have a fixed number of operands");
                ExprNode::operation(op, width, &operands(n)?[..n])
            }
        };
        self.widths_fit(&decoded).map_err(malformed)?;
        Ok(decoded)
    }

    fn widths_fit(&self, node: &ExprNode) -> Result<(), Malformed> {
        let operands = node.operands();
        let mut widths = [0; 3];
        for (width, operand) in widths.iter_mut().zip(operands) {
            *width = self.nodes[operand.index()].width.into();
        }
        check_widths(node, &widths[..operands.len()])
    }

    /// The bytes of the table whose head lies at 8 times `place`, if they are inside the region.
    pub(super) fn table(&self, place: u32) -> Option<&'a [u8]> {
        let start = usize::try_from(u64::from(place) * 8).ok()?;
        let tables = self.tables;
        let head = tables.get(start..start.checked_add(size_of::<TableHead>())?)?;
        let size = u64::from_le_bytes(head[8..].try_into().ok()?);
        let bytes = &tables[start + head.len()..];
        bytes.get(..usize::try_from(size).ok()?)
    }
}
