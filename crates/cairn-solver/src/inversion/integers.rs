//! Integer operations undone.

use super::{Demand, Values};
use cairn_expr::{Dag, ExprId, ExprNode, Op, mask, signed};

/// Entries of a table that are tried.
const MAX_ENTRIES: usize = 12;

/// The ways to meet a demand on an integer operation, which now has the value `current`.
pub fn ways(
    dag: &Dag,
    values: &mut Values<'_>,
    node: &ExprNode,
    demand: Demand,
    current: u128,
) -> Vec<Vec<Demand>> {
    let width = node.width();
    let all = mask(width);
    let wanted = demand.value & demand.mask;
    // Operations that mix bits need all of them.
    let whole = current & !demand.mask | wanted;
    let operands = node.operands();
    let a = operands[0];
    let b = operands.get(1).copied().unwrap_or(a);
    let mut ways = Ways { dag, list: Vec::new() };
    if matches!(node.op(), Op::Add | Op::Or | Op::Xor) {
        let (ones_a, ones_b) = (dag.possible_ones(a), dag.possible_ones(b));
        if ones_a & ones_b == 0 {
            // Values put together from parts that do not overlap; each part has its own bits.
            if wanted & !(ones_a | ones_b) == 0 {
                let parts = [(a, ones_a), (b, ones_b)];
                let demand = |(node, ones): (ExprId, u128)| Demand {
                    node,
                    value: wanted & ones,
                    mask: demand.mask & ones,
                };
                ways.list.push(parts.map(demand).into_iter().filter(|demand| demand.mask != 0).collect());
            }
            return ways.list;
        }
    }
    match node.op() {
        Op::Not => ways.one(a, !wanted, demand.mask),
        Op::Neg => ways.whole(a, whole.wrapping_neg()),
        Op::Add => {
            // The lowest bits of a sum come from the lowest bits.
            let (wanted, mask) = if demand.mask & demand.mask.wrapping_add(1) == 0 {
                (wanted, demand.mask)
            } else {
                (whole, all)
            };
            let (x, y) = (values(a), values(b));
            ways.one(a, wanted.wrapping_sub(y), mask);
            ways.one(b, wanted.wrapping_sub(x), mask);
        }
        Op::Sub => {
            let (x, y) = (values(a), values(b));
            ways.whole(a, whole.wrapping_add(y));
            ways.whole(b, x.wrapping_sub(whole));
        }
        Op::Mul => {
            for (factor, other) in [(a, b), (b, a)] {
                for quotient in quotients(whole, values(other), width) {
                    ways.whole(factor, quotient);
                }
            }
        }
        Op::UDiv | Op::SDiv | Op::URem | Op::SRem => ways.division(values, node.op(), a, b, whole),
        Op::And => ways.both(values, a, b, wanted, demand.mask),
        Op::Or => ways.either(values, a, b, wanted, demand.mask),
        Op::Xor => {
            let (x, y) = (values(a), values(b));
            ways.one(a, wanted ^ y, demand.mask);
            ways.one(b, wanted ^ x, demand.mask);
        }
        Op::Shl | Op::LShr | Op::AShr => ways.shift(values, node.op(), a, b, wanted, demand.mask, whole),
        Op::ZExt if wanted & !mask(dag.width(a)) == 0 => {
            ways.one(a, wanted, demand.mask & mask(dag.width(a)));
        }
        Op::SExt => {
            let inner = mask(dag.width(a));
            let sign = 1 << (dag.width(a) - 1);
            let above = demand.mask & !inner;
            let mut part = demand.mask & inner;
            let mut value = wanted & inner;
            if above != 0 {
                let negative = wanted & above == above;
                let consistent = (negative || wanted & above == 0)
                    && (part & sign == 0 || (value & sign != 0) == negative);
                if !consistent {
                    return ways.list;
                }
                part |= sign;
                value = if negative { value | sign } else { value & !sign };
            }
            ways.one(a, value, part);
        }
        Op::Extract => ways.one(a, wanted << node.low(), demand.mask << node.low()),
        Op::Concat => {
            let low = dag.width(b);
            ways.list.push(
                [
                    Demand { node: a, value: wanted >> low, mask: demand.mask >> low },
                    Demand { node: b, value: wanted & mask(low), mask: demand.mask & mask(low) },
                ]
                .into_iter()
                .filter(|demand| demand.mask != 0)
                .collect(),
            );
        }
        Op::Ite => {
            let arms = if values(a) == 1 { [(1, 1), (0, 2)] } else { [(0, 2), (1, 1)] };
            for (condition, arm) in arms {
                ways.list.push(vec![
                    Demand { node: operands[arm], value: wanted, mask: demand.mask },
                    Demand::whole(dag, a, condition),
                ]);
            }
        }
        Op::Table => ways.table(values, node, wanted, demand.mask),
        Op::PopCount if whole <= width.into() => ways.whole(a, mask(whole as u32)),
        Op::LeadingZeros if whole <= width.into() => {
            ways.whole(a, 1u128.checked_shl(width - whole as u32).unwrap_or(0) >> 1);
        }
        Op::TrailingZeros if whole <= width.into() => {
            ways.whole(a, 1u128.checked_shl(whole as u32).unwrap_or(0) & all);
        }
        _ => {}
    }
    ways.list
}

struct Ways<'a> {
    dag: &'a Dag,
    list: Vec<Vec<Demand>>,
}

impl Ways<'_> {
    fn one(&mut self, node: ExprId, value: u128, mask: u128) {
        if !self.dag.is_fixed(node) {
            self.list.push(vec![Demand { node, value: value & mask, mask }]);
        }
    }

    fn whole(&mut self, node: ExprId, value: u128) {
        self.one(node, value, mask(self.dag.width(node)));
    }

    /// An and: ones are needed on both sides, a zero on one.
    fn both(&mut self, values: &mut Values<'_>, a: ExprId, b: ExprId, wanted: u128, mask: u128) {
        let zeros = mask & !wanted;
        for (cleared, other) in [(a, b), (b, a)] {
            let clear = zeros & values(other);
            self.list.push(vec![
                Demand { node: other, value: wanted, mask: wanted },
                Demand { node: cleared, value: wanted, mask: wanted | clear },
            ]);
        }
    }

    /// An or: zeros are needed on both sides, a one on one.
    fn either(&mut self, values: &mut Values<'_>, a: ExprId, b: ExprId, wanted: u128, mask: u128) {
        let zeros = mask & !wanted;
        for (set, other) in [(a, b), (b, a)] {
            let ones = wanted & self.dag.possible_ones(set) & !values(other);
            let rest = wanted & !self.dag.possible_ones(set);
            self.list.push(vec![
                Demand { node: other, value: rest, mask: zeros | rest },
                Demand { node: set, value: ones, mask: zeros | ones },
            ]);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one shift")]
    fn shift(
        &mut self,
        values: &mut Values<'_>,
        op: Op,
        a: ExprId,
        b: ExprId,
        wanted: u128,
        shown: u128,
        whole: u128,
    ) {
        let width = self.dag.width(a);
        let all = mask(width);
        let amount = values(b);
        if let Some(amount) = u32::try_from(amount).ok().filter(|amount| *amount < width) {
            let lost = match op {
                Op::Shl => mask(amount),
                _ => all & !(all >> amount),
            };
            let (value, part) = match op {
                Op::Shl => (wanted >> amount, shown >> amount),
                _ => (wanted << amount & all, shown << amount & all),
            };
            let sign = 1 << (width - 1);
            let filled = wanted & lost;
            match op {
                Op::AShr if shown & lost != 0 => {
                    let negative = filled == shown & lost;
                    let consistent =
                        (negative || filled == 0) && (part & sign == 0 || (value & sign != 0) == negative);
                    if consistent {
                        let value = if negative { value | sign } else { value & !sign };
                        self.one(a, value, part | sign);
                    }
                }
                _ if filled == 0 => self.one(a, value, part),
                _ => {}
            }
        }
        if !self.dag.is_fixed(b) {
            let x = values(a);
            for amount in 0..width {
                let shifted = match op {
                    Op::Shl => x << amount & all,
                    Op::LShr => x >> amount,
                    _ => (signed(x, width) >> amount) as u128 & all,
                };
                if shifted == whole {
                    self.whole(b, amount.into());
                    break;
                }
            }
        }
    }

    fn division(&mut self, values: &mut Values<'_>, op: Op, a: ExprId, b: ExprId, wanted: u128) {
        let width = self.dag.width(a);
        let all = mask(width);
        let (x, y) = (values(a), values(b));
        let (signed_x, signed_y) = (signed(x, width), signed(y, width));
        let signed_wanted = signed(wanted, width);
        if y != 0 {
            match op {
                Op::UDiv => {
                    if let Some(product) = wanted.checked_mul(y).filter(|product| *product <= all) {
                        self.whole(a, product.saturating_add(x % y).min(all));
                        self.whole(a, product);
                    }
                }
                Op::SDiv => {
                    if let Some(product) = signed_wanted.checked_mul(signed_y) {
                        self.whole(a, product as u128);
                    }
                }
                Op::URem if wanted < y => {
                    self.whole(a, x - x % y + wanted);
                    self.whole(a, wanted);
                }
                Op::SRem => {
                    let rounded = signed_x.wrapping_sub(signed_x.wrapping_rem(signed_y));
                    self.whole(a, rounded.wrapping_add(signed_wanted) as u128);
                    self.whole(a, wanted);
                }
                _ => {}
            }
        }
        match op {
            Op::UDiv if wanted != 0 => self.whole(b, x / wanted),
            Op::SDiv if wanted != 0 => self.whole(b, signed_x.wrapping_div(signed_wanted) as u128),
            // What is left over from a division by something larger is the number itself.
            Op::URem | Op::SRem if x != wanted => self.whole(b, x.wrapping_sub(wanted)),
            _ => {}
        }
    }

    /// The entries nearest to the one that is read now.
    fn table(&mut self, values: &mut Values<'_>, node: &ExprNode, wanted: u128, shown: u128) {
        let offset = node.operand(0);
        let table = self.dag.table_bytes(node.table_id());
        let size = node.width() as usize / 8;
        let possible = self.dag.possible_ones(offset);
        let now = values(offset);
        let mut matching: Vec<u128> = table
            .windows(size.max(1))
            .enumerate()
            .filter(|(start, bytes)| {
                let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
                *start as u128 & !possible == 0 && (value ^ wanted) & shown == 0
            })
            .map(|(start, _)| start as u128)
            .collect();
        matching.sort_by_key(|start| start.abs_diff(now));
        for start in matching.into_iter().take(MAX_ENTRIES) {
            self.whole(offset, start);
        }
        if wanted == 0 {
            // Outside, everything is zero.
            self.whole(offset, table.len() as u128);
        }
    }
}

/// The factors that give `product` with `factor`, exactly or by wrapping.
fn quotients(product: u128, factor: u128, width: u32) -> Vec<u128> {
    let all = mask(width);
    if factor == 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    if product.is_multiple_of(factor) {
        found.push(product / factor);
    }
    let (signed_product, signed_factor) = (signed(product, width), signed(factor, width));
    if signed_product.wrapping_rem(signed_factor) == 0 {
        found.push(signed_product.wrapping_div(signed_factor) as u128 & all);
    }
    let zeros = factor.trailing_zeros();
    if product.trailing_zeros() >= zeros {
        found.push((product >> zeros).wrapping_mul(inverse(factor >> zeros)) & (all >> zeros));
    }
    found.dedup();
    found
}

/// The number that gives 1 when multiplied with an odd one, modulo every power of two.
fn inverse(odd: u128) -> u128 {
    // Each round doubles the number of right bits, and an odd number is its own inverse in three.
    (0..6).fold(odd, |inverse, _| inverse.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(inverse))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_numbers_have_inverses() {
        for odd in [1, 3, 33, 0xffff_ffff, u128::MAX] {
            assert_eq!(inverse(odd).wrapping_mul(odd), 1);
        }
    }

    #[test]
    fn products_are_divided_exactly_or_by_wrapping() {
        assert_eq!(quotients(330, 33, 16), [10]);
        assert!(quotients(1, 33, 8).iter().any(|x| (x * 33) & 0xff == 1));
        assert_eq!(quotients(3, 4, 8), []);
    }
}
