//! Shifts by constants.

use cairn_abi::symbolic::Op;

use crate::{dag::Dag, node::ExprId};

impl Dag {
    pub(super) fn simpler_shl(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if self.possible_ones(a) == 0 {
            return Some(a);
        }
        let amount = self.constant_value(b)?;
        if amount == 0 {
            return Some(a);
        }
        if amount >= width.into() {
            return self.zero(width);
        }
        if let Some((x, more)) = self.constant_if(a, Op::Shl) {
            // Narrow integers cannot hold their own width, so a shift of everything is decided here.
            let amount = amount.saturating_add(more);
            if amount >= width.into() {
                return self.zero(width);
            }
            let amount = self.constant(width, amount);
            return Some(self.binary(Op::Shl, x, amount));
        }
        let (x, factor) = self.constant_if(a, Op::Mul)?;
        let factor = self.constant(width, factor << amount);
        Some(self.binary(Op::Mul, x, factor))
    }

    /// Right shifts are extensions of the bits that stay.
    pub(super) fn simpler_right_shift(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if self.possible_ones(a) == 0 {
            return Some(a);
        }
        if op == Op::AShr && self.is_never_negative(a) {
            return Some(self.binary(Op::LShr, a, b));
        }
        let amount = self.constant_value(b)?;
        if amount == 0 {
            return Some(a);
        }
        if amount >= width.into() && op == Op::LShr {
            return self.zero(width);
        }
        let amount = amount.min(u128::from(width) - 1) as u32;
        let rest = self.extract(a, amount, width - amount);
        Some(if op == Op::LShr { self.zext(rest, width) } else { self.sext(rest, width) })
    }
}
