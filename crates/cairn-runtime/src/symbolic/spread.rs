//! Between which numbers the value of a node lies on every input.

use super::{build::mask, nodes::node};
use cairn_abi::symbolic::{Node, Op};

/// How far operands are followed.
const MAX_DEPTH: u32 = 12;

/// The numbers from `low` to `low + span`, going round at the end of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The first.
    pub low: u64,
    /// How many follow it.
    pub span: u64,
}

/// Where the value of a label lies; `None` if that may be anywhere.
pub fn spread(label: u32) -> Option<Spread> {
    follow(label, MAX_DEPTH, &|label| node(label))
}

fn follow(label: u32, depth: u32, nodes: &dyn Fn(u32) -> Node) -> Option<Spread> {
    let known = nodes(label);
    let width = u32::from(known.width);
    if width == 0 || width > 64 {
        return None;
    }
    let all = Spread { low: 0, span: mask(width) };
    // Where nothing better is known, a narrow value is known by its width.
    let narrow = (width < 64).then_some(all);
    let Some(depth) = depth.checked_sub(1) else { return narrow };
    let operand = |label: u32| follow(label, depth, nodes);
    let constant = |label: u32| {
        let other = nodes(label);
        (other.op == Op::Constant as u8).then_some(other.value)
    };
    let found = match Op::from_target(known.op) {
        Some(Op::Constant) => Some(Spread { low: known.value, span: 0 }),
        Some(Op::ZExt) => operand(known.a),
        Some(Op::SExt) => sign_extended(nodes(known.a).width.into(), operand(known.a)?),
        Some(Op::And) => {
            let mask = constant(known.b).or_else(|| constant(known.a));
            mask.map(|mask| Spread { low: 0, span: mask })
        }
        Some(Op::Add) => sum(operand(known.a)?, operand(known.b)?),
        Some(Op::Sub) => {
            let less = constant(known.b)?;
            operand(known.a).map(|Spread { low, span }| Spread { low: low.wrapping_sub(less), span })
        }
        Some(Op::Mul) => scaled(operand(known.a)?, constant(known.b)?),
        Some(Op::Shl) => scaled(operand(known.a)?, 1u64.checked_shl(constant(known.b)? as u32)?),
        Some(Op::LShr) => {
            let by = constant(known.b)?;
            operand(known.a)
                .filter(|known| by < 64 && !known.goes_round())
                .map(|known| Spread { low: known.low >> by, span: (known.high() >> by) - (known.low >> by) })
        }
        Some(Op::Ite) => hull(operand(known.b)?, operand(known.c)?),
        _ => None,
    };
    // What goes round at the end of a narrower value is something else.
    match found {
        Some(found) if width == 64 || (!found.goes_round() && found.high() <= all.span) => Some(found),
        _ => narrow,
    }
}

impl Spread {
    fn high(self) -> u64 {
        self.low.wrapping_add(self.span)
    }

    fn goes_round(self) -> bool {
        self.low.checked_add(self.span).is_none()
    }
}

fn sum(a: Spread, b: Spread) -> Option<Spread> {
    Some(Spread { low: a.low.wrapping_add(b.low), span: a.span.checked_add(b.span)? })
}

fn scaled(known: Spread, by: u64) -> Option<Spread> {
    Some(Spread { low: known.low.wrapping_mul(by), span: known.span.checked_mul(by)? })
}

fn hull(a: Spread, b: Spread) -> Option<Spread> {
    if a.goes_round() || b.goes_round() {
        return None;
    }
    let low = a.low.min(b.low);
    Some(Spread { low, span: a.high().max(b.high()) - low })
}

fn sign_extended(width: u32, known: Spread) -> Option<Spread> {
    let half = 1u64 << (width - 1);
    if !known.goes_round() && known.high() < half {
        return Some(known);
    }
    Some(Spread { low: half.wrapping_neg(), span: mask(width) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(op: Op, width: u8, operands: [u32; 3], value: u64) -> Node {
        let [a, b, c] = operands;
        Node { op: op as u8, width, a, b, c, value, ..Node::default() }
    }

    /// Where the last of some nodes lies; labels are numbers of nodes, from 1.
    fn check(nodes: &[Node], expected: Option<(u64, u64)>) {
        let at = |label: u32| nodes[label as usize - 1];
        let found = follow(nodes.len() as u32, MAX_DEPTH, &at);
        assert_eq!(found.map(|Spread { low, span }| (low, span)), expected);
    }

    #[test]
    fn an_address_in_a_table_is_one_of_few() {
        let byte = make(Op::Input, 8, [0; 3], 7);
        let wide = make(Op::ZExt, 64, [1, 0, 0], 7);
        let three = make(Op::Constant, 64, [0; 3], 3);
        let scaled = make(Op::Shl, 64, [2, 3, 0], 56);
        let base = make(Op::Constant, 64, [0; 3], 0x5000);
        let address = make(Op::Add, 64, [4, 5, 0], 0x5038);
        check(&[byte, wide, three, scaled, base, address], Some((0x5000, 255 * 8)));
        let signed = make(Op::SExt, 64, [1, 0, 0], 7);
        check(&[byte, signed, three, scaled, base, address], Some((0x5000 - 128 * 8, 255 * 8)));
        let bits = make(Op::And, 64, [2, 3, 0], 3);
        check(&[byte, wide, three, bits], Some((0, 3)));
    }

    #[test]
    fn what_may_be_anything_is_nowhere() {
        let word = make(Op::Input, 64, [0; 3], 7);
        let base = make(Op::Constant, 64, [0; 3], 0x5000);
        check(&[word, base, make(Op::Add, 64, [1, 2, 0], 0x5007)], None);
        // A sum of eight bits goes round at 256.
        let byte = make(Op::Input, 8, [0; 3], 7);
        let ten = make(Op::Constant, 8, [0; 3], 10);
        let sum = make(Op::Add, 8, [1, 2, 0], 17);
        check(&[byte, ten, sum, make(Op::ZExt, 32, [3, 0, 0], 17)], Some((0, 255)));
    }
}
