//! Nodes of a run held against our own evaluation.

use cairn_abi::symbolic::Op;

use crate::{
    evaluate::Bytes,
    import::{ImportError, Importer},
    node::{ExprId, ExprNode},
    value::{Bits, compute, math, table_value},
};

/// A node that had another value in the run than we compute from the run's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Which.
    pub label: u32,
    /// What the run wrote, the lowest 64 bits.
    pub recorded: u64,
    /// What we compute, likewise.
    pub computed: u64,
    /// Whether its operands agree, so that the mistake is in this node.
    pub is_first: bool,
}

impl Importer<'_> {
    /// Evaluates all nodes on the input of the run and returns those that had another value, in the order of labels.
    ///
    /// Results that are not a number agree whatever their bits are, because those depend on the order in which the compiler
    /// arranged the operands.
    pub fn disagreements(&self, bytes: &(impl Bytes + ?Sized)) -> Result<Vec<Disagreement>, ImportError> {
        let mut values: Vec<u128> = Vec::with_capacity(self.nodes.len());
        let mut agrees: Vec<bool> = Vec::with_capacity(self.nodes.len());
        let mut found = Vec::new();
        values.push(0);
        agrees.push(true);
        for label in 1..self.nodes.len() as u32 {
            let node = self.decode(label)?;
            let recorded = self.nodes[label as usize].value;
            let value = match node.op() {
                Op::Constant | Op::Opaque => recorded.into(),
                _ => self.evaluate(&node, &values, bytes),
            };
            let is_same = value as u64 == recorded
                || is_arithmetic(node.op()) && are_no_numbers(node.width(), value as u64, recorded);
            if !is_same {
                // An opaque value takes what it depends on as it was.
                let is_first = node.operands().iter().all(|operand| agrees[operand.index()]);
                found.push(Disagreement { label, recorded, computed: value as u64, is_first });
            }
            agrees.push(is_same);
            values.push(value);
        }
        Ok(found)
    }

    fn evaluate(&self, node: &ExprNode, values: &[u128], bytes: &(impl Bytes + ?Sized)) -> u128 {
        let operands = node.operands();
        let bits = |n: usize| match operands.get(n) {
            Some(ExprId(label)) => {
                let at = *label as usize;
                Bits { value: values[at], width: self.nodes[at].width.into() }
            }
            None => Bits::default(),
        };
        let width = node.width();
        match node.op() {
            Op::Input => {
                let (region, offset) = node.place();
                let byte = |n| u128::from(bytes.byte(region, offset + n));
                (0..width / 8).rev().fold(0, |value, n| value << 8 | byte(n))
            }
            Op::Table => {
                let table = self.table(node.table_id().0).expect("decoding found it");
                table_value(table, bits(0).value, width)
            }
            Op::Math => math(node.function(), width, bits(0).value as u64, bits(1).value as u64).into(),
            Op::Extract => {
                let low = Bits { value: node.low().into(), width: 32 };
                compute(Op::Extract, width, bits(0), low, Bits::default())
            }
            op => compute(op, width, bits(0), bits(1), bits(2)),
        }
    }
}

fn is_arithmetic(op: Op) -> bool {
    matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FToF | Op::Math)
}

fn are_no_numbers(width: u32, a: u64, b: u64) -> bool {
    match width {
        32 => f32::from_bits(a as u32).is_nan() && f32::from_bits(b as u32).is_nan(),
        _ => f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan(),
    }
}
