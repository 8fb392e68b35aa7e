//! Sums, products and quotients.

use cairn_abi::symbolic::Op;

use crate::{
    bits::{filled, mask},
    dag::Dag,
    node::ExprId,
};

impl Dag {
    pub(super) fn simpler_add(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width == 1 {
            return Some(self.binary(Op::Xor, a, b));
        }
        if let Some(constant) = self.constant_value(b) {
            if constant == 0 {
                return Some(a);
            }
            if let Some((x, more)) = self.constant_if(a, Op::Add) {
                return Some(self.add_constant(x, constant.wrapping_add(more)));
            }
            if let Some((minuend, x)) = self.operands_if(a, Op::Sub)
                && let Some(minuend) = self.constant_value(minuend)
            {
                let minuend = self.constant(width, minuend.wrapping_add(constant));
                return Some(self.binary(Op::Sub, minuend, x));
            }
            return self.join(a, b);
        }
        if a == b {
            let one = self.constant(width, 1);
            return Some(self.binary(Op::Shl, a, one));
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Some(negated) = self.operand_if(x, Op::Neg) {
                return Some(self.binary(Op::Sub, y, negated));
            }
            if let Some((minuend, subtrahend)) = self.operands_if(x, Op::Sub)
                && subtrahend == y
            {
                return Some(minuend);
            }
            if let Some((term, constant)) = self.constant_if(x, Op::Add) {
                let sum = self.binary(Op::Add, term, y);
                return Some(self.add_constant(sum, constant));
            }
        }
        self.join(a, b)
    }

    pub(super) fn simpler_sub(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width == 1 {
            return Some(self.binary(Op::Xor, a, b));
        }
        if a == b {
            return self.zero(width);
        }
        if let Some(constant) = self.constant_value(b) {
            return Some(self.add_constant(a, constant.wrapping_neg()));
        }
        if let Some(negated) = self.operand_if(b, Op::Neg) {
            return Some(self.binary(Op::Add, a, negated));
        }
        if let Some((x, y)) = self.operands_if(a, Op::Add)
            && (x == b || y == b)
        {
            return Some(if x == b { y } else { x });
        }
        if let Some((x, y)) = self.operands_if(b, Op::Add)
            && (x == a || y == a)
        {
            return Some(self.unary(Op::Neg, if x == a { y } else { x }));
        }
        if let Some((x, constant)) = self.constant_if(a, Op::Add) {
            let difference = self.binary(Op::Sub, x, b);
            return Some(self.add_constant(difference, constant));
        }
        if let Some((y, constant)) = self.constant_if(b, Op::Add) {
            let difference = self.binary(Op::Sub, a, y);
            return Some(self.add_constant(difference, constant.wrapping_neg()));
        }
        let minuend = self.constant_value(a)?;
        if minuend == 0 {
            return Some(self.unary(Op::Neg, b));
        }
        let (other, y) = self.operands_if(b, Op::Sub)?;
        let other = self.constant_value(other)?;
        Some(self.add_constant(y, minuend.wrapping_sub(other)))
    }

    pub(super) fn simpler_neg(&mut self, a: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width == 1 {
            return Some(a);
        }
        if let Some((x, y)) = self.operands_if(a, Op::Sub) {
            return Some(self.binary(Op::Sub, y, x));
        }
        if let Some((x, constant)) = self.constant_if(a, Op::Add) {
            let minuend = self.constant(width, constant.wrapping_neg());
            return Some(self.binary(Op::Sub, minuend, x));
        }
        self.operand_if(a, Op::Neg)
    }

    pub(super) fn simpler_mul(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if width == 1 {
            return Some(self.binary(Op::And, a, b));
        }
        let factor = self.constant_value(b)?;
        if factor == 0 {
            return self.zero(width);
        }
        if factor == 1 {
            return Some(a);
        }
        if factor == mask(width) {
            return Some(self.unary(Op::Neg, a));
        }
        let product = if let Some((x, more)) = self.constant_if(a, Op::Mul) {
            Some((x, factor.wrapping_mul(more)))
        } else if let Some((x, amount)) = self.constant_if(a, Op::Shl)
            && amount < width.into()
        {
            Some((x, factor << amount))
        } else {
            self.operand_if(a, Op::Neg).map(|x| (x, factor.wrapping_neg()))
        };
        if let Some((x, factor)) = product {
            let factor = self.constant(width, factor);
            return Some(self.binary(Op::Mul, x, factor));
        }
        if factor.is_power_of_two() {
            let amount = self.constant(width, factor.trailing_zeros().into());
            return Some(self.binary(Op::Shl, a, amount));
        }
        None
    }

    pub(super) fn simpler_unsigned_division(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let divisor = self.constant_value(b)?;
        if divisor == 0 {
            return Some(if op == Op::UDiv { self.constant(width, u128::MAX) } else { a });
        }
        if self.possible_ones(a) < divisor {
            return if op == Op::UDiv { self.zero(width) } else { Some(a) };
        }
        if divisor.is_power_of_two() {
            return Some(if op == Op::UDiv {
                let amount = self.constant(width, divisor.trailing_zeros().into());
                self.binary(Op::LShr, a, amount)
            } else {
                let ones = self.constant(width, divisor - 1);
                self.binary(Op::And, a, ones)
            });
        }
        let x = self.operand_if(a, Op::ZExt)?;
        let divisor = self.constant(self.width(x), divisor);
        let quotient = self.binary(op, x, divisor);
        Some(self.zext(quotient, width))
    }

    pub(super) fn simpler_signed_division(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if self.is_never_negative(a) && self.is_never_negative(b) {
            return Some(self.binary(if op == Op::SDiv { Op::UDiv } else { Op::URem }, a, b));
        }
        let divisor = self.constant_value(b)?;
        match op {
            Op::SDiv if divisor == 0 => Some(self.constant(width, u128::MAX)),
            Op::SDiv if divisor == 1 => Some(a),
            Op::SDiv if divisor == mask(width) => Some(self.unary(Op::Neg, a)),
            Op::SRem if divisor == 0 => Some(a),
            Op::SRem if divisor == 1 || divisor == mask(width) => self.zero(width),
            _ => None,
        }
    }

    pub(super) fn add_constant(&mut self, a: ExprId, constant: u128) -> ExprId {
        let constant = self.constant(self.width(a), constant);
        self.binary(Op::Add, a, constant)
    }

    /// The largest value the sum with a constant can have, if no sum wraps around.
    pub(super) fn largest_sum(&self, a: ExprId, constant: u128) -> Option<u128> {
        let largest = filled(self.possible_ones(a)).checked_add(constant)?;
        (largest <= mask(self.width(a))).then_some(largest)
    }
}
