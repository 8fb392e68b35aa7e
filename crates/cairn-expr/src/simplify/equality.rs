//! What is equal. `!=` is the negation of the same.

use cairn_abi::symbolic::Op;

use crate::{
    bits::{mask, signed},
    dag::Dag,
    node::ExprId,
};

impl Dag {
    pub(super) fn simpler_eq(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if a == b {
            return self.truth(true);
        }
        match self.constant_value(b) {
            Some(constant) => self.simpler_eq_constant(a, constant),
            None => self.simpler_eq_terms(a, b),
        }
    }

    fn simpler_eq_constant(&mut self, a: ExprId, constant: u128) -> Option<ExprId> {
        let node = *self.node(a);
        let width = node.width();
        if constant & !self.possible_ones(a) != 0 {
            return self.truth(false);
        }
        if width == 1 {
            return Some(if constant == 1 { a } else { self.not(a) });
        }
        let operands = node.operands();
        let second = operands.get(1).and_then(|id| self.constant_value(*id));
        match (node.op, second) {
            (Op::Add, Some(term)) => Some(self.is_constant(operands[0], constant.wrapping_sub(term))),
            (Op::Sub, _) if constant == 0 => Some(self.compare(Op::Eq, operands[0], operands[1])),
            (Op::Sub, _) => {
                let minuend = self.constant_value(operands[0])?;
                Some(self.is_constant(operands[1], minuend.wrapping_sub(constant)))
            }
            (Op::Xor, Some(term)) => Some(self.is_constant(operands[0], constant ^ term)),
            (Op::Xor, None) if constant == 0 => Some(self.compare(Op::Eq, operands[0], operands[1])),
            (Op::Not, _) => Some(self.is_constant(operands[0], !constant)),
            (Op::Neg, _) => Some(self.is_constant(operands[0], constant.wrapping_neg())),
            // Multiplying by an odd number loses nothing.
            (Op::Mul, Some(factor)) if factor % 2 == 1 => {
                Some(self.is_constant(operands[0], constant.wrapping_mul(inverse(factor))))
            }
            (Op::Shl, Some(amount)) if amount < width.into() => {
                let amount = amount as u32;
                let kept = self.extract(operands[0], 0, width - amount);
                Some(self.is_constant(kept, constant >> amount))
            }
            (Op::And, Some(ones)) => {
                let low = ones.trailing_zeros();
                let is_run = (ones >> low).wrapping_add(1) & (ones >> low) == 0;
                if !is_run {
                    return None;
                }
                let kept = self.extract(operands[0], low, ones.count_ones());
                Some(self.is_constant(kept, constant >> low))
            }
            (Op::Or, Some(ones)) if ones & !constant != 0 => self.truth(false),
            (Op::Or, None) if constant == 0 => Some(self.are_both(&operands, 0)),
            (Op::And, None) if constant == mask(width) => Some(self.are_both(&operands, constant)),
            (Op::ZExt, _) => Some(self.is_constant(operands[0], constant)),
            (Op::SExt, _) => {
                let inner = self.width(operands[0]);
                if signed(constant, inner) as u128 & mask(width) != constant {
                    return self.truth(false);
                }
                Some(self.is_constant(operands[0], constant))
            }
            (Op::Concat, _) => {
                let high = self.is_constant(operands[0], constant >> self.width(operands[1]));
                let low = self.is_constant(operands[1], constant);
                Some(self.binary(Op::And, high, low))
            }
            (Op::Ite, _) => {
                let constant = self.constant(width, constant);
                self.compared_choice(Op::Eq, a, constant)
            }
            _ => None,
        }
    }

    fn simpler_eq_terms(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        if self.are_opposite(a, b) {
            return self.truth(false);
        }
        if let Some((x, y)) = self.unextended(Op::ZExt, a, b).or_else(|| self.unextended(Op::SExt, a, b)) {
            return Some(self.compare(Op::Eq, x, y));
        }
        if let (Some((a_high, a_low)), Some((b_high, b_low))) =
            (self.operands_if(a, Op::Concat), self.operands_if(b, Op::Concat))
            && self.width(a_low) == self.width(b_low)
        {
            let high = self.compare(Op::Eq, a_high, b_high);
            let low = self.compare(Op::Eq, a_low, b_low);
            return Some(self.binary(Op::And, high, low));
        }
        // Bytes in another order, as after a swap.
        for (x, y) in [(a, b), (b, a)] {
            if let Some((x_high, x_low)) = self.operands_if(x, Op::Concat)
                && self.op(y) == Op::Input
                && self.width(x_low).is_multiple_of(8)
            {
                let (above, below) = (self.width(x_high), self.width(x_low));
                let (y_high, y_low) = (self.extract(y, below, above), self.extract(y, 0, below));
                let high = self.compare(Op::Eq, x_high, y_high);
                let low = self.compare(Op::Eq, x_low, y_low);
                return Some(self.binary(Op::And, high, low));
            }
        }
        for op in [Op::Add, Op::Xor] {
            for (x, y) in [(a, b), (b, a)] {
                let Some((p, q)) = self.operands_if(x, op) else { continue };
                if p == y || q == y {
                    return Some(self.is_constant(if p == y { q } else { p }, 0));
                }
                let Some((r, s)) = self.operands_if(y, op) else { continue };
                let rest = match () {
                    _ if p == r => Some((q, s)),
                    _ if p == s => Some((q, r)),
                    _ if q == r => Some((p, s)),
                    _ if q == s => Some((p, r)),
                    _ => None,
                };
                if let Some((left, right)) = rest {
                    return Some(self.compare(Op::Eq, left, right));
                }
            }
        }
        None
    }

    /// `id == constant`, of which the bits above the width are dropped.
    pub(super) fn is_constant(&mut self, id: ExprId, constant: u128) -> ExprId {
        let constant = self.constant(self.width(id), constant);
        self.compare(Op::Eq, id, constant)
    }

    fn are_both(&mut self, operands: &[ExprId], constant: u128) -> ExprId {
        let (x, y) = (self.is_constant(operands[0], constant), self.is_constant(operands[1], constant));
        self.binary(Op::And, x, y)
    }

    /// What two extensions of the same kind extend, brought to one width.
    pub(super) fn unextended(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<(ExprId, ExprId)> {
        let (x, y) = (self.operand_if(a, op)?, self.operand_if(b, op)?);
        let width = self.width(x).max(self.width(y));
        let mut extend = |id| if op == Op::ZExt { self.zext(id, width) } else { self.sext(id, width) };
        Some((extend(x), extend(y)))
    }

    /// A comparison of a choice with a constant, if comparing one of its sides is decided.
    pub(super) fn compared_choice(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let is_left = self.constant_value(b).is_some();
        let (choice, constant) = if is_left { (a, b) } else { (b, a) };
        self.constant_value(constant)?;
        let (condition, then, otherwise) = self.choice(choice)?;
        if self.constant_value(then).is_none() && self.constant_value(otherwise).is_none() {
            return None;
        }
        let mut compared = |id| {
            if is_left { self.compare(op, id, constant) } else { self.compare(op, constant, id) }
        };
        let (then, otherwise) = (compared(then), compared(otherwise));
        Some(self.ite(condition, then, otherwise))
    }
}

/// The number that times an odd one is 1, modulo 2^128 and so modulo every smaller power.
fn inverse(odd: u128) -> u128 {
    // Each step doubles the bits that are right, and an odd number is its own inverse modulo 8.
    (0..6).fold(odd, |inverse, _| inverse.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(inverse))))
}

#[cfg(test)]
mod tests {
    use super::inverse;

    #[test]
    fn odd_numbers_have_inverses() {
        for odd in [1, 3, 0x0100_0193, u128::MAX, 0xdead_beef] {
            assert_eq!(odd.wrapping_mul(inverse(odd)), 1);
        }
    }
}
