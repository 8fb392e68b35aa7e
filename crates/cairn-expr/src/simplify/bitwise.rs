//! Bitwise operations, which at width 1 are those of logic.

use cairn_abi::symbolic::Op;

use crate::{bits::mask, dag::Dag, node::ExprId};

impl Dag {
    pub(super) fn simpler_not(&mut self, a: ExprId) -> Option<ExprId> {
        let node = *self.node(a);
        let width = node.width();
        let operands = node.operands();
        match node.op {
            Op::Not => Some(operands[0]),
            Op::Eq => Some(self.compare(Op::Ne, operands[0], operands[1])),
            Op::Ne => Some(self.compare(Op::Eq, operands[0], operands[1])),
            Op::ULt => Some(self.compare(Op::ULe, operands[1], operands[0])),
            Op::ULe => Some(self.compare(Op::ULt, operands[1], operands[0])),
            Op::SLt => Some(self.compare(Op::SLe, operands[1], operands[0])),
            Op::SLe => Some(self.compare(Op::SLt, operands[1], operands[0])),
            Op::And | Op::Or if operands.iter().all(|id| self.has_opposite(*id)) => {
                let (x, y) = (self.not(operands[0]), self.not(operands[1]));
                Some(self.binary(if node.op == Op::And { Op::Or } else { Op::And }, x, y))
            }
            Op::SExt => {
                let inverted = self.not(operands[0]);
                Some(self.sext(inverted, width))
            }
            Op::Xor => {
                let constant = self.constant_value(operands[1])?;
                let constant = self.constant(width, !constant);
                Some(self.binary(Op::Xor, operands[0], constant))
            }
            // The inverse of x is -1 - x.
            Op::Add => {
                let constant = self.constant_value(operands[1])?;
                let minuend = self.constant(width, !constant);
                Some(self.binary(Op::Sub, minuend, operands[0]))
            }
            Op::Sub => {
                let minuend = self.constant_value(operands[0])?;
                Some(self.add_constant(operands[1], !minuend))
            }
            _ => None,
        }
    }

    /// Whether the negation of a truth value is no larger than itself.
    fn has_opposite(&self, id: ExprId) -> bool {
        matches!(self.op(id), Op::Eq | Op::Ne | Op::ULt | Op::ULe | Op::SLt | Op::SLe | Op::Not)
    }

    pub(super) fn simpler_and(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if a == b {
            return Some(a);
        }
        if self.possible_ones(a) & self.possible_ones(b) == 0 || self.are_opposite(a, b) {
            return self.zero(width);
        }
        if let Some(ones) = self.constant_value(b) {
            return self.simpler_mask(a, ones);
        }
        self.absorbed(Op::And, Op::Or, a, b).or_else(|| self.narrowed(Op::And, a, b))
    }

    fn simpler_mask(&mut self, a: ExprId, ones: u128) -> Option<ExprId> {
        let width = self.width(a);
        let possible = self.possible_ones(a);
        if possible & !ones == 0 {
            return Some(a);
        }
        if let Some((x, more)) = self.constant_if(a, Op::And) {
            return Some(self.mask_with(x, ones & more));
        }
        if let Some((x, set)) = self.constant_if(a, Op::Or)
            && set & ones == 0
        {
            return Some(self.mask_with(x, ones));
        }
        if (ones + 1).is_power_of_two() {
            let low = self.extract(a, 0, ones.count_ones());
            return Some(self.zext(low, width));
        }
        if let Op::ZExt | Op::SExt = self.op(a) {
            let x = self.node(a).operand(0);
            let inner = self.width(x);
            if self.op(a) == Op::SExt && ones > mask(inner) {
                return None;
            }
            let masked = self.mask_with(x, ones & mask(inner));
            return Some(self.zext(masked, width));
        }
        if let Some((high, low)) = self.operands_if(a, Op::Concat) {
            let below = self.width(low);
            let (ones_high, ones_low) = (ones >> below, ones & mask(below));
            let is_whole = |ones: u128, width: u32| ones == 0 || ones == mask(width);
            if is_whole(ones_high, width - below) || is_whole(ones_low, below) {
                let (high, low) = (self.mask_with(high, ones_high), self.mask_with(low, ones_low));
                return Some(self.concat(high, low));
            }
        }
        None
    }

    pub(super) fn simpler_or(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if a == b {
            return Some(a);
        }
        if self.are_opposite(a, b) {
            return Some(self.constant(width, u128::MAX));
        }
        if let Some(ones) = self.constant_value(b) {
            if ones == 0 {
                return Some(a);
            }
            if ones == mask(width) {
                return Some(b);
            }
            if let Some((x, more)) = self.constant_if(a, Op::Or) {
                let ones = self.constant(width, ones | more);
                return Some(self.binary(Op::Or, x, ones));
            }
        }
        self.absorbed(Op::Or, Op::And, a, b)
            .or_else(|| self.narrowed(Op::Or, a, b))
            .or_else(|| self.join(a, b))
    }

    pub(super) fn simpler_xor(&mut self, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        if a == b {
            return self.zero(width);
        }
        if self.are_opposite(a, b) {
            return Some(self.constant(width, u128::MAX));
        }
        if let Some(constant) = self.constant_value(b) {
            if constant == 0 {
                return Some(a);
            }
            if constant == mask(width) {
                return Some(self.not(a));
            }
            let inner = if let Some((x, more)) = self.constant_if(a, Op::Xor) {
                Some((x, constant ^ more))
            } else {
                self.operand_if(a, Op::Not).map(|x| (x, !constant))
            };
            if let Some((x, constant)) = inner {
                let constant = self.constant(width, constant);
                return Some(self.binary(Op::Xor, x, constant));
            }
        }
        // What is combined twice goes away.
        for (x, y) in [(a, b), (b, a)] {
            if let Some((p, q)) = self.operands_if(x, Op::Xor)
                && (p == y || q == y)
            {
                return Some(if p == y { q } else { p });
            }
        }
        self.narrowed(Op::Xor, a, b).or_else(|| self.join(a, b))
    }

    /// `x op (x dual y)` is `x`, and `x op (x op y)` is `x op y`.
    fn absorbed(&mut self, op: Op, dual: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        for (x, y) in [(a, b), (b, a)] {
            let node = self.node(y);
            if (node.op == op || node.op == dual) && node.operands().contains(&x) {
                return Some(if node.op == dual { x } else { y });
            }
        }
        None
    }

    /// On zero extensions a bitwise operation is done before extending.
    fn narrowed(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let x = self.operand_if(a, Op::ZExt)?;
        let inner = self.width(x);
        let y = match self.constant_value(b) {
            Some(constant) if constant <= mask(inner) => self.constant(inner, constant),
            Some(_) => return None,
            None => self.operand_if(b, Op::ZExt).filter(|y| self.width(*y) == inner)?,
        };
        let narrow = self.binary(op, x, y);
        Some(self.zext(narrow, width))
    }

    fn mask_with(&mut self, a: ExprId, ones: u128) -> ExprId {
        let ones = self.constant(self.width(a), ones);
        self.binary(Op::And, a, ones)
    }

    /// Whether one is the inverse of the other, as far as is seen at a glance.
    pub(super) fn are_opposite(&self, a: ExprId, b: ExprId) -> bool {
        let (x, y) = (self.node(a), self.node(b));
        let swapped = (x.a, x.b) == (y.b, y.a);
        match (x.op, y.op) {
            (Op::Not, _) if x.operand(0) == b => true,
            (_, Op::Not) if y.operand(0) == a => true,
            (Op::Eq, Op::Ne) | (Op::Ne, Op::Eq) => (x.a, x.b) == (y.a, y.b),
            (Op::ULt, Op::ULe) | (Op::ULe, Op::ULt) | (Op::SLt, Op::SLe) | (Op::SLe, Op::SLt) => swapped,
            _ => false,
        }
    }
}
