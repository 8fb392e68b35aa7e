//! Extensions, extracts and concatenations.

use cairn_abi::symbolic::Op;

use crate::{
    bits::{MAX_WIDTH, mask},
    dag::Dag,
    node::ExprId,
};

impl Dag {
    pub(super) fn simpler_extension(&mut self, op: Op, a: ExprId, width: u32) -> Option<ExprId> {
        if op == Op::SExt && self.is_never_negative(a) {
            return Some(self.zext(a, width));
        }
        let x = self.operand_if(a, op)?;
        Some(if op == Op::ZExt { self.zext(x, width) } else { self.sext(x, width) })
    }

    pub(super) fn simpler_extract(&mut self, a: ExprId, low: u32, width: u32) -> Option<ExprId> {
        let node = *self.node(a);
        let end = low + width;
        if width == node.width() {
            return Some(a);
        }
        if self.possible_ones(a) >> low & mask(width) == 0 {
            return self.zero(width);
        }
        let operands = node.operands();
        let second = operands.get(1).and_then(|id| self.constant_value(*id));
        match node.op {
            Op::Extract => Some(self.extract(operands[0], node.b + low, width)),
            Op::Input if low.is_multiple_of(8) && width.is_multiple_of(8) => {
                let (region, offset) = node.place();
                Some(self.input(region, offset + low / 8, width))
            }
            Op::Concat => {
                let below = self.width(operands[1]);
                if end <= below {
                    return Some(self.extract(operands[1], low, width));
                }
                if low >= below {
                    return Some(self.extract(operands[0], low - below, width));
                }
                let upper = self.extract(operands[0], 0, end - below);
                let lower = self.extract(operands[1], low, below - low);
                Some(self.concat(upper, lower))
            }
            Op::ZExt | Op::SExt => {
                let inner = self.width(operands[0]);
                if end <= inner {
                    return Some(self.extract(operands[0], low, width));
                }
                // At least the sign is taken; of a zero extension more, or all would be zero.
                let first = low.min(inner - 1);
                let rest = self.extract(operands[0], first, inner - first);
                Some(if node.op == Op::ZExt { self.zext(rest, width) } else { self.sext(rest, width) })
            }
            Op::Shl => {
                let amount = second.filter(|amount| *amount < node.width().into())? as u32;
                if low >= amount {
                    return Some(self.extract(operands[0], low - amount, width));
                }
                let upper = self.extract(operands[0], 0, end - amount);
                let lower = self.constant(amount - low, 0);
                Some(self.concat(upper, lower))
            }
            Op::And | Op::Or | Op::Xor if second.is_some() => {
                let kept = self.extract(operands[0], low, width);
                let constant = self.constant(width, second? >> low);
                Some(self.binary(node.op, kept, constant))
            }
            Op::Not => {
                let kept = self.extract(operands[0], low, width);
                Some(self.not(kept))
            }
            Op::Ite if operands[1..].iter().any(|id| self.op(*id) == Op::Constant) => {
                let then = self.extract(operands[1], low, width);
                let otherwise = self.extract(operands[2], low, width);
                Some(self.ite(operands[0], then, otherwise))
            }
            // The low bits of a result come from the low bits of the operands alone.
            Op::Add | Op::Sub | Op::Mul | Op::Neg | Op::And | Op::Or | Op::Xor
                if low == 0 && operands.iter().all(|id| self.is_easily_cut(*id, width)) =>
            {
                let cut: Vec<ExprId> = operands.iter().map(|id| self.extract(*id, 0, width)).collect();
                Some(match cut[..] {
                    [x] => self.unary(node.op, x),
                    _ => self.binary(node.op, cut[0], cut[1]),
                })
            }
            _ => None,
        }
    }

    /// Whether the low bits of an expression are no larger than itself.
    fn is_easily_cut(&self, id: ExprId, width: u32) -> bool {
        match self.op(id) {
            Op::Constant | Op::ZExt | Op::SExt => true,
            Op::Input => width.is_multiple_of(8),
            Op::Concat => self.width(self.node(id).operand(1)) >= width,
            _ => false,
        }
    }

    pub(super) fn simpler_concat(&mut self, high: ExprId, low: ExprId) -> Option<ExprId> {
        let width = self.width(high) + self.width(low);
        if self.possible_ones(high) == 0 {
            return Some(self.zext(low, width));
        }
        if let Some(x) = self.operand_if(high, Op::ZExt) {
            let lower = self.concat(x, low);
            return Some(self.zext(lower, width));
        }
        if let (Some(constant), Some(x)) = (self.constant_value(high), self.operand_if(low, Op::ZExt)) {
            let below = self.width(low) - self.width(x);
            let upper = self.constant(self.width(high) + below, constant << below);
            return Some(self.concat(upper, x));
        }
        if let Some((x, y)) = self.operands_if(high, Op::Concat) {
            let lower = self.concat(y, low);
            return Some(self.concat(x, lower));
        }
        if let Some(whole) = self.adjacent(high, low) {
            return Some(whole);
        }
        let (middle, rest) = self.operands_if(low, Op::Concat)?;
        let upper = self.adjacent(high, middle)?;
        Some(self.concat(upper, rest))
    }

    /// Two parts of one thing that lie next to each other, as one.
    fn adjacent(&mut self, high: ExprId, low: ExprId) -> Option<ExprId> {
        let (upper, lower) = (*self.node(high), *self.node(low));
        let width = upper.width() + lower.width();
        if width > MAX_WIDTH {
            return None;
        }
        match (upper.op, lower.op) {
            (Op::Constant, Op::Constant) => {
                let value = self.constant_value(high)? << lower.width() | self.constant_value(low)?;
                Some(self.constant(width, value))
            }
            (Op::Extract, Op::Extract)
                if upper.a == lower.a && upper.low() == lower.low() + lower.width() =>
            {
                Some(self.extract(lower.operand(0), lower.low(), width))
            }
            (Op::Input, Op::Input) => {
                let ((region, start), (other, after)) = (lower.place(), upper.place());
                (region == other && start + lower.width() / 8 == after)
                    .then(|| self.input(region, start, width))
            }
            _ => None,
        }
    }
}
