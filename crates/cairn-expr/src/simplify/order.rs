//! What is smaller.

use cairn_abi::symbolic::Op;

use crate::{
    bits::{is_negative, mask, signed, signed_max, signed_min},
    dag::Dag,
    node::ExprId,
};

impl Dag {
    pub(super) fn simpler_unsigned_order(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let is_strict = op == Op::ULt;
        if a == b {
            return self.truth(!is_strict);
        }
        let (most_a, most_b) = (self.possible_ones(a), self.possible_ones(b));
        if let Some(limit) = self.constant_value(b) {
            // `limit` is the first value that is too large, if there is one.
            let Some(limit) = limit.checked_add(u128::from(!is_strict)) else { return self.truth(true) };
            if limit == 0 {
                return self.truth(false);
            }
            if most_a < limit {
                return self.truth(true);
            }
            if limit == 1 {
                return Some(self.is_constant(a, 0));
            }
            if limit == mask(width) {
                let largest = self.is_constant(a, limit);
                return Some(self.not(largest));
            }
            if let Some((x, term)) = self.constant_if(a, Op::Add)
                && self.largest_sum(x, term).is_some()
            {
                let Some(rest) = limit.checked_sub(term) else { return self.truth(false) };
                let rest = self.constant(width, rest);
                return Some(self.compare(Op::ULt, x, rest));
            }
        }
        if let Some(limit) = self.constant_value(a) {
            // `limit` is the last value that is too small, if there is one.
            let Some(limit) = limit.checked_sub(u128::from(!is_strict)) else { return self.truth(true) };
            if most_b <= limit {
                return self.truth(false);
            }
            if limit == 0 {
                let zero = self.is_constant(b, 0);
                return Some(self.not(zero));
            }
            if limit == mask(width) - 1 {
                return Some(self.is_constant(b, limit + 1));
            }
        }
        self.compared_inside(op, Op::ZExt, a, b)
            .or_else(|| self.unextended(Op::SExt, a, b).map(|(x, y)| self.compare(op, x, y)))
            .or_else(|| self.compared_choice(op, a, b))
    }

    pub(super) fn simpler_signed_order(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let is_strict = op == Op::SLt;
        if a == b {
            return self.truth(!is_strict);
        }
        let unsigned = if is_strict { Op::ULt } else { Op::ULe };
        match (self.is_never_negative(a), self.is_never_negative(b)) {
            (true, true) => return Some(self.compare(unsigned, a, b)),
            (true, false) if self.constant_value(b).is_some() => return self.truth(false),
            (false, true) if self.constant_value(a).is_some() => return self.truth(true),
            _ => {}
        }
        let (least, most) = (signed_min(width), signed_max(width));
        if let Some(limit) = self.constant_value(b) {
            match is_strict {
                true if limit == least => return self.truth(false),
                false if limit == least => return Some(self.is_constant(a, least)),
                false if limit == most => return self.truth(true),
                _ => {}
            }
        }
        if let Some(limit) = self.constant_value(a) {
            match is_strict {
                true if limit == most => return self.truth(false),
                false if limit == most => return Some(self.is_constant(b, most)),
                false if limit == least => return self.truth(true),
                _ => {}
            }
        }
        self.compared_inside(op, Op::SExt, a, b)
            .or_else(|| self.compared_difference(op, a, b))
            .or_else(|| self.compared_choice(op, a, b))
    }

    /// Compares extensions, or an extension with a constant, before they are extended.
    fn compared_inside(&mut self, op: Op, extension: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        if let Some((x, y)) = self.unextended(extension, a, b) {
            return Some(self.compare(op, x, y));
        }
        let width = self.width(a);
        let is_left = self.constant_value(b).is_some();
        let (extended, constant) = if is_left { (a, b) } else { (b, a) };
        let constant = self.constant_value(constant)?;
        let x = self.operand_if(extended, extension)?;
        let inner = self.width(x);
        let is_inside = if extension == Op::ZExt {
            constant <= mask(inner)
        } else {
            signed(constant, inner) == signed(constant, width)
        };
        if is_inside {
            let constant = self.constant(inner, constant);
            return Some(if is_left { self.compare(op, x, constant) } else { self.compare(op, constant, x) });
        }
        // A constant outside is above or below all there is inside.
        let is_above = extension == Op::ZExt || !is_negative(constant, width);
        self.truth(is_above == is_left)
    }

    /// A difference of values that are never negative does not overflow, so its sign tells which is smaller, as in the
    /// results of `strcmp` and its like.
    fn compared_difference(&mut self, op: Op, a: ExprId, b: ExprId) -> Option<ExprId> {
        let width = self.width(a);
        let is_left = self.constant_value(b).is_some();
        let (difference, constant) = if is_left { (a, b) } else { (b, a) };
        let constant = self.constant_value(constant)?;
        if let Some((x, y)) = self.operands_if(difference, Op::Sub)
            && self.is_never_negative(x)
            && self.is_never_negative(y)
        {
            // At least 1 is more than 0, and so on for both sides of 0.
            let op = match (op, signed(constant, width)) {
                (_, 0) => op,
                (Op::SLt, 1) if is_left => Op::SLe,
                (Op::SLe, -1) if is_left => Op::SLt,
                (Op::SLt, -1) if !is_left => Op::SLe,
                (Op::SLe, 1) if !is_left => Op::SLt,
                _ => return None,
            };
            return Some(if is_left { self.compare(op, x, y) } else { self.compare(op, y, x) });
        }
        let (x, term) = self.constant_if(difference, Op::Add)?;
        if !self.is_never_negative(x) || !is_negative(term, width) {
            return None;
        }
        // Taking something from a value that is not negative does not overflow; the rest must be expressible too.
        let rest = signed(constant, width).checked_sub(signed(term, width))?;
        if rest > signed(signed_max(width), width) {
            return self.truth(is_left);
        }
        let rest = self.constant(width, rest as u128);
        Some(if is_left { self.compare(op, x, rest) } else { self.compare(op, rest, x) })
    }
}
