//! What operations compute.
//!
//! This is the one place that gives an [`Op`] its meaning on the host; folding, evaluation and the slow path of tapes all
//! come here.

pub(crate) mod float;

use cairn_abi::symbolic::{MathFunction, Op};

use crate::bits::{mask, signed};

/// A value and its width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    pub value: u128,
    pub width: u32,
}

/// Computes an operation on values. `b` of an extract is its lowest bit.
///
/// Leaves, tables and functions of the mathematical library are not computed here, because they need more than values.
pub(crate) fn compute(op: Op, width: u32, a: Bits, b: Bits, c: Bits) -> u128 {
    let (x, y) = (a.value, b.value);
    let signed_x = || signed(x, a.width);
    let signed_y = || signed(y, b.width);
    let result = match op {
        Op::Not => !x,
        Op::Neg => x.wrapping_neg(),
        Op::PopCount => x.count_ones().into(),
        Op::LeadingZeros => (x.leading_zeros() - (128 - a.width)).into(),
        Op::TrailingZeros => x.trailing_zeros().min(a.width).into(),
        Op::Add => x.wrapping_add(y),
        Op::Sub => x.wrapping_sub(y),
        Op::Mul => x.wrapping_mul(y),
        Op::UDiv => x.checked_div(y).unwrap_or(u128::MAX),
        Op::URem => x.checked_rem(y).unwrap_or(x),
        Op::SDiv if y == 0 => u128::MAX,
        Op::SDiv => signed_x().wrapping_div(signed_y()) as u128,
        Op::SRem if y == 0 => x,
        Op::SRem => signed_x().wrapping_rem(signed_y()) as u128,
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Shl => shift_amount(y, a.width).map_or(0, |n| x << n),
        Op::LShr => shift_amount(y, a.width).map_or(0, |n| x >> n),
        Op::AShr => (signed_x() >> shift_amount(y, a.width).unwrap_or(127)) as u128,
        Op::Eq => (x == y).into(),
        Op::Ne => (x != y).into(),
        Op::ULt => (x < y).into(),
        Op::ULe => (x <= y).into(),
        Op::SLt => (signed_x() < signed_y()).into(),
        Op::SLe => (signed_x() <= signed_y()).into(),
        Op::ZExt => x,
        Op::SExt => signed_x() as u128,
        Op::Extract => x >> y,
        Op::Concat => x << b.width | y,
        Op::Ite => {
            if x == 1 {
                y
            } else {
                c.value
            }
        }
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem => {
            float::arithmetic(op, width, x as u64, y as u64).into()
        }
        Op::FNeg => x ^ (1 << (width - 1)),
        Op::FEq | Op::FLt | Op::FLe | Op::FUnordered => {
            float::compare(op, a.width, x as u64, y as u64).into()
        }
        Op::FToSigned => float::to_signed(float::widen(x as u64, a.width), width),
        Op::FToUnsigned => float::to_unsigned(float::widen(x as u64, a.width), width),
        Op::SignedToF if width == 32 => (signed_x() as f32).to_bits().into(),
        Op::SignedToF => (signed_x() as f64).to_bits().into(),
        Op::UnsignedToF if width == 32 => (x as f32).to_bits().into(),
        Op::UnsignedToF => (x as f64).to_bits().into(),
        Op::FToF if width == 32 => float::to_single(x as u64).into(),
        Op::FToF => float::to_double(x as u32).into(),
        Op::Constant | Op::Input | Op::Opaque | Op::Table | Op::Math => {
            unreachable!("{op:?} is not computed from values alone")
        }
    };
    result & mask(width)
}

/// A function of the mathematical library, on the bits of numbers of `width` bits.
pub(crate) fn math(function: MathFunction, width: u32, x: u64, y: u64) -> u64 {
    float::math(function, width, x, y)
}

/// The little-endian value of `width` bits at a byte offset; 0 if it does not lie inside the table.
pub(crate) fn table_value(table: &[u8], offset: u128, width: u32) -> u128 {
    let size = width as usize / 8;
    let entry = usize::try_from(offset)
        .ok()
        .and_then(|start| start.checked_add(size).and_then(|end| table.get(start..end)));
    entry.map_or(0, |bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte)))
}

fn shift_amount(amount: u128, width: u32) -> Option<u32> {
    (amount < u128::from(width)).then_some(amount as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(op: Op, width: u32, x: u128, y: u128) -> u128 {
        let result = if crate::node::is_comparison(op) { 1 } else { width };
        compute(op, result, Bits { value: x, width }, Bits { value: y, width }, Bits::default())
    }

    #[test]
    fn divisions_always_have_a_value() {
        assert_eq!(binary(Op::UDiv, 8, 5, 0), 0xff);
        assert_eq!(binary(Op::URem, 8, 5, 0), 5);
        assert_eq!(binary(Op::SDiv, 8, 0xfb, 0), 0xff);
        assert_eq!(binary(Op::SRem, 8, 0xfb, 0), 0xfb);
        assert_eq!(binary(Op::SDiv, 8, 0x80, 0xff), 0x80);
        assert_eq!(binary(Op::SRem, 8, 0x80, 0xff), 0);
        assert_eq!(binary(Op::SDiv, 128, 1 << 127, u128::MAX), 1 << 127);
        assert_eq!(binary(Op::SDiv, 8, 0xf9, 2), 0xfd);
        assert_eq!(binary(Op::SRem, 8, 0xf9, 2), 0xff);
    }

    #[test]
    fn shifts_by_the_width_or_more_lose_everything() {
        assert_eq!(binary(Op::Shl, 8, 0xff, 8), 0);
        assert_eq!(binary(Op::LShr, 8, 0xff, 8), 0);
        assert_eq!(binary(Op::AShr, 8, 0x80, 200), 0xff);
        assert_eq!(binary(Op::AShr, 8, 0x40, 200), 0);
        assert_eq!(binary(Op::AShr, 128, 1 << 127, u128::MAX), u128::MAX);
    }

    #[test]
    fn zeros_are_counted_within_the_width() {
        let unary =
            |op, width, value| compute(op, width, Bits { value, width }, Bits::default(), Bits::default());
        assert_eq!(unary(Op::LeadingZeros, 16, 0x00ff), 8);
        assert_eq!(unary(Op::LeadingZeros, 16, 0), 16);
        assert_eq!(unary(Op::TrailingZeros, 16, 0), 16);
        assert_eq!(unary(Op::TrailingZeros, 1, 0), 1);
        assert_eq!(unary(Op::PopCount, 128, u128::MAX), 128);
        assert_eq!(unary(Op::PopCount, 1, 1), 1);
    }

    #[test]
    fn a_table_is_zero_outside() {
        assert_eq!(table_value(&[1, 2, 3], 1, 16), 0x0302);
        assert_eq!(table_value(&[1, 2, 3], 2, 16), 0);
        assert_eq!(table_value(&[1, 2, 3], u128::MAX, 8), 0);
        assert_eq!(table_value(&[1, 2, 3], u64::MAX.into(), 8), 0);
    }
}
