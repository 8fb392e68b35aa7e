//! Which widths and operands an operation may have.

use cairn_abi::symbolic::Op;

use crate::{
    bits::MAX_WIDTH,
    dag::Dag,
    node::{ExprNode, is_comparison},
};

/// Why a node makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The width is outside of what the operation allows.
    #[error("{op:?} cannot have a width of {width} bits")]
    Width {
        /// The operation.
        op: Op,
        /// Its width.
        width: u32,
    },
    /// The operands do not fit the width or each other.
    #[error("{op:?} of width {width} cannot have operands of widths {operands:?}")]
    Operands {
        /// The operation.
        op: Op,
        /// Its width.
        width: u32,
        /// Those of its operands.
        operands: Vec<u32>,
    },
    /// An extract takes bits that are not there.
    #[error("{width} bits from bit {low} on are not part of {of} bits")]
    Extract {
        /// How many it takes.
        width: u32,
        /// From where.
        low: u32,
        /// How many there are.
        of: u32,
    },
    /// Bytes of the input are past the largest offset.
    #[error("{bytes} bytes at offset {offset} do not lie inside a region")]
    Offset {
        /// The first offset.
        offset: u32,
        /// How many bytes.
        bytes: u32,
    },
}

impl Dag {
    /// Whether widths and operands of a node fit. Its operands must be in this graph.
    pub(crate) fn check(&self, node: &ExprNode) -> Result<(), Malformed> {
        let operands = node.operands();
        let mut widths = [0; 3];
        for (width, operand) in widths.iter_mut().zip(operands) {
            *width = self.width(operand);
        }
        check_widths(node, &widths[..operands.len()])
    }
}

/// Whether widths fit, given those of the operands.
pub(crate) fn check_widths(node: &ExprNode, operands: &[u32]) -> Result<(), Malformed> {
    let (op, width) = (node.op, node.width());
    let is_float = |width: u32| width == 32 || width == 64;
    let is_bytes = |width: u32| width.is_multiple_of(8);
    let has_width = match op {
        _ if width == 0 || width > MAX_WIDTH => false,
        Op::Input | Op::Table => is_bytes(width),
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FNeg | Op::Math => is_float(width),
        Op::SignedToF | Op::UnsignedToF | Op::FToF => is_float(width),
        _ => !is_comparison(op) || width == 1,
    };
    if !has_width {
        return Err(Malformed::Width { op, width });
    }
    let fits = match (op, operands) {
        (Op::Constant | Op::Opaque, _) => true,
        (Op::Input, _) => return check_place(node),
        (Op::Eq | Op::Ne | Op::ULt | Op::ULe | Op::SLt | Op::SLe, [a, b]) => a == b,
        (Op::FEq | Op::FLt | Op::FLe | Op::FUnordered, [a, b]) => a == b && is_float(*a),
        (Op::ZExt | Op::SExt, [a]) => *a < width,
        (Op::Extract, [a]) if node.b.checked_add(width).is_none_or(|end| end > *a) => {
            return Err(Malformed::Extract { width, low: node.b, of: *a });
        }
        (Op::Extract, _) => true,
        (Op::Concat, [a, b]) => a + b == width,
        (Op::Ite, [a, b, c]) => *a == 1 && *b == width && *c == width,
        (Op::Table, [a]) => *a == 64,
        (Op::FToSigned | Op::FToUnsigned, [a]) => is_float(*a),
        (Op::SignedToF | Op::UnsignedToF, _) => true,
        (Op::FToF, [a]) => is_float(*a) && *a != width,
        _ => operands.iter().all(|operand| *operand == width),
    };
    if !fits {
        return Err(Malformed::Operands { op, width, operands: operands.to_vec() });
    }
    Ok(())
}

fn check_place(node: &ExprNode) -> Result<(), Malformed> {
    let (_, offset) = node.place();
    let bytes = node.width() / 8;
    match offset.checked_add(bytes) {
        Some(_) => Ok(()),
        None => Err(Malformed::Offset { offset, bytes }),
    }
}
