//! Floating-point numbers as bits.
//!
//! A result that is not a number has the bits x86-64 gives it: those of the first operand that is not a number, made quiet, or
//! else the negative quiet one. Left to the compiler they would depend on the order it chose for operands.

use cairn_abi::symbolic::{MathFunction, Op};

macro_rules! operations {
    ($name:ident, $float:ty, $bits:ty, $quiet:expr, $indefinite:expr) => {
        mod $name {
            use super::*;

            fn settle(result: $float, a: $float, b: $float) -> $bits {
                if !result.is_nan() {
                    result.to_bits()
                } else if a.is_nan() {
                    a.to_bits() | $quiet
                } else if b.is_nan() {
                    b.to_bits() | $quiet
                } else {
                    $indefinite
                }
            }

            pub fn arithmetic(op: Op, a: $bits, b: $bits) -> $bits {
                let (a, b) = (<$float>::from_bits(a), <$float>::from_bits(b));
                let result = match op {
                    Op::FAdd => a + b,
                    Op::FSub => a - b,
                    Op::FMul => a * b,
                    Op::FDiv => a / b,
                    Op::FRem => a % b,
                    _ => unreachable!("{op:?} is not floating-point arithmetic"),
                };
                settle(result, a, b)
            }

            pub fn compare(op: Op, a: $bits, b: $bits) -> bool {
                let (a, b) = (<$float>::from_bits(a), <$float>::from_bits(b));
                match op {
                    Op::FEq => a == b,
                    Op::FLt => a < b,
                    Op::FLe => a <= b,
                    Op::FUnordered => a.is_nan() || b.is_nan(),
                    _ => unreachable!("{op:?} is not a floating-point comparison"),
                }
            }

            pub fn math(function: MathFunction, a: $bits, b: $bits) -> $bits {
                let (a, b) = (<$float>::from_bits(a), <$float>::from_bits(b));
                let result = match function {
                    MathFunction::Fabs => return a.to_bits() << 1 >> 1,
                    MathFunction::CopySign => return a.copysign(b).to_bits(),
                    MathFunction::Sqrt => a.sqrt(),
                    MathFunction::Floor => a.floor(),
                    MathFunction::Ceil => a.ceil(),
                    MathFunction::Trunc => a.trunc(),
                    MathFunction::Round => a.round(),
                    MathFunction::RoundEven => a.round_ties_even(),
                    MathFunction::Exp => a.exp(),
                    MathFunction::Exp2 => a.exp2(),
                    MathFunction::Log => a.ln(),
                    MathFunction::Log2 => a.log2(),
                    MathFunction::Log10 => a.log10(),
                    MathFunction::Sin => a.sin(),
                    MathFunction::Cos => a.cos(),
                    MathFunction::Tan => a.tan(),
                    MathFunction::Asin => a.asin(),
                    MathFunction::Acos => a.acos(),
                    MathFunction::Atan => a.atan(),
                    MathFunction::Sinh => a.sinh(),
                    MathFunction::Cosh => a.cosh(),
                    MathFunction::Tanh => a.tanh(),
                    MathFunction::Cbrt => a.cbrt(),
                    MathFunction::Pow => a.powf(b),
                    MathFunction::Atan2 => a.atan2(b),
                    MathFunction::Hypot => a.hypot(b),
                    // C leaves open which zero is smaller. The instructions glibc uses return the second.
                    MathFunction::Fmin if a < b || b.is_nan() => a,
                    MathFunction::Fmax if a > b || b.is_nan() => a,
                    MathFunction::Fmin | MathFunction::Fmax => b,
                };
                settle(result, a, if function.arity() == 2 { b } else { a })
            }
        }
    };
}

const QUIET_SINGLE: u32 = 1 << 22;
const QUIET_DOUBLE: u64 = 1 << 51;

operations!(single, f32, u32, QUIET_SINGLE, 0xffc0_0000);
operations!(double, f64, u64, QUIET_DOUBLE, 0xfff8_0000_0000_0000);

pub fn arithmetic(op: Op, width: u32, a: u64, b: u64) -> u64 {
    match width {
        32 => single::arithmetic(op, a as u32, b as u32).into(),
        _ => double::arithmetic(op, a, b),
    }
}

pub fn compare(op: Op, width: u32, a: u64, b: u64) -> bool {
    match width {
        32 => single::compare(op, a as u32, b as u32),
        _ => double::compare(op, a, b),
    }
}

pub fn math(function: MathFunction, width: u32, a: u64, b: u64) -> u64 {
    match width {
        32 => single::math(function, a as u32, b as u32).into(),
        _ => double::math(function, a, b),
    }
}

/// The number with these bits; every `float` is a `double`.
pub fn widen(bits: u64, width: u32) -> f64 {
    match width {
        32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The bits of a `double` as a `float`.
pub fn to_single(bits: u64) -> u32 {
    let number = f64::from_bits(bits);
    if !number.is_nan() {
        return (number as f32).to_bits();
    }
    (bits >> 32) as u32 & 0x8000_0000 | 0x7f80_0000 | QUIET_SINGLE | (bits >> 29) as u32 & (QUIET_SINGLE - 1)
}

/// The bits of a `float` as a `double`.
pub fn to_double(bits: u32) -> u64 {
    let number = f32::from_bits(bits);
    if !number.is_nan() {
        return f64::from(number).to_bits();
    }
    let bits = u64::from(bits);
    (bits & 0x8000_0000) << 32 | 0x7ff0_0000_0000_0000 | QUIET_DOUBLE | (bits & 0x3f_ffff) << 29
}

/// Towards zero, by the instruction for 32 or 64 bits or, above, exactly. What does not fit there is the instruction's smallest
/// number.
pub fn to_signed(number: f64, width: u32) -> u128 {
    let number = number.trunc();
    let result = match width {
        ..=32 if is_within(number, 31) => i128::from(number as i32),
        ..=32 => i128::from(i32::MIN),
        ..=64 if is_within(number, 63) => i128::from(number as i64),
        65.. if is_within(number, 127) => number as i128,
        _ => i128::from(i64::MIN),
    };
    result as u128
}

/// Likewise. Negative numbers that fit a signed integer of 32 or 64 bits wrap, as they do on x86-64.
pub fn to_unsigned(number: f64, width: u32) -> u128 {
    let number = number.trunc();
    match width {
        ..=31 => to_signed(number, 32),
        32..=63 => to_signed(number, 64),
        64 if number >= 0.0 && number < power_of_two(64) => (number as u64).into(),
        65.. if number >= 0.0 && number < power_of_two(128) => number as u128,
        _ => to_signed(number, 64),
    }
}

fn is_within(number: f64, bits: i32) -> bool {
    number >= -power_of_two(bits) && number < power_of_two(bits)
}

fn power_of_two(exponent: i32) -> f64 {
    f64::powi(2.0, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_that_do_not_fit_give_what_the_instructions_give() {
        let low = |value: u128, width| value & crate::bits::mask(width);
        assert_eq!(low(to_signed(2147483648.0, 32), 32), 0x8000_0000);
        assert_eq!(low(to_signed(f64::NAN, 16), 16), 0);
        assert_eq!(low(to_signed(200.7, 8), 8), 200);
        assert_eq!(low(to_signed(1e300, 64), 64), 1 << 63);
        assert_eq!(low(to_signed(-1.9, 33), 33), 0x1_ffff_ffff);
        assert_eq!(low(to_unsigned(-1.0, 32), 32), 0xffff_ffff);
        assert_eq!(low(to_unsigned(4294967296.0, 32), 32), 0);
        assert_eq!(low(to_unsigned(-1.0, 64), 64), u64::MAX.into());
        assert_eq!(low(to_unsigned(1.8e19, 64), 64), 18_000_000_000_000_000_000);
        assert_eq!(low(to_unsigned(1e20, 64), 64), 1 << 63);
        assert_eq!(to_unsigned(1e20, 128), 100_000_000_000_000_000_000);
    }

    #[test]
    fn what_is_not_a_number_keeps_its_bits() {
        let (quiet, signalling) = (0x7ff8_0000_0000_0001, 0x7ff0_0000_0000_0002);
        let one = 1f64.to_bits();
        assert_eq!(arithmetic(Op::FAdd, 64, quiet, signalling), quiet);
        assert_eq!(arithmetic(Op::FAdd, 64, one, signalling), 0x7ff8_0000_0000_0002);
        assert_eq!(arithmetic(Op::FDiv, 64, 0, 0), 0xfff8_0000_0000_0000);
        assert_eq!(to_single(0xfff0_0000_2000_0000), 0xffc0_0001);
        assert_eq!(to_double(0xff80_0001), 0xfff8_0000_2000_0000);
    }

    #[test]
    fn the_smaller_of_two_zeros_is_the_second() {
        let (zero, minus) = (0f64.to_bits(), (-0f64).to_bits());
        assert_eq!(math(MathFunction::Fmin, 64, zero, minus), minus);
        assert_eq!(math(MathFunction::Fmin, 64, minus, zero), zero);
        assert_eq!(math(MathFunction::Fmax, 64, f64::NAN.to_bits(), zero), zero);
    }
}
