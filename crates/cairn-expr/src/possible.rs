//! Which bits of a value may be one.

use cairn_abi::symbolic::Op;

use crate::{
    bits::{filled, mask, signed},
    dag::Dag,
    node::ExprId,
};

impl Dag {
    /// The bits of a node that may be one, from those of its operands.
    ///
    /// An opaque value counts as unknown although it is the same on every input: a rule that used it would drop what the value
    /// depends on.
    pub(crate) fn possible_of(&self, id: ExprId) -> u128 {
        let node = *self.node(id);
        let width = node.width();
        let all = mask(width);
        let operands = node.operands();
        let possible = |n: usize| self.possible_ones(operands[n]);
        let constant = |n: usize| self.constant_value(operands[n]);
        let small = |n: usize| constant(n).filter(|amount| *amount < width.into());
        let ones = match node.op {
            Op::Constant => self.constant_value(id).unwrap_or(all),
            Op::PopCount | Op::LeadingZeros | Op::TrailingZeros => filled(width.into()),
            // A sum of values below 2^n is below 2^(n+1).
            Op::Add => match filled(possible(0)).checked_add(filled(possible(1))) {
                Some(most) => filled(most),
                None => all,
            },
            Op::Mul => match filled(possible(0)).checked_mul(filled(possible(1))) {
                Some(most) => filled(most),
                None => all,
            },
            Op::UDiv => match constant(1) {
                Some(divisor) if divisor != 0 => filled(possible(0) / divisor),
                _ => all,
            },
            Op::URem => match constant(1) {
                Some(divisor) if divisor != 0 => filled((divisor - 1).min(possible(0))),
                _ => filled(possible(0)),
            },
            Op::And => possible(0) & possible(1),
            Op::Or | Op::Xor => possible(0) | possible(1),
            Op::Shl => small(1).map_or(all, |amount| possible(0) << amount),
            Op::LShr => small(1).map_or(filled(possible(0)), |amount| possible(0) >> amount),
            Op::ZExt => possible(0),
            Op::SExt => signed(possible(0), self.width(operands[0])) as u128,
            Op::Extract => possible(0) >> node.b,
            Op::Concat => possible(0) << self.width(operands[1]) | possible(1),
            Op::Ite => possible(1) | possible(2),
            Op::Table => {
                let ones = self.table_ones(node.table_id());
                (0..width / 8).fold(0, |all, _| all << 8 | u128::from(ones))
            }
            _ => all,
        };
        ones & all
    }
}
