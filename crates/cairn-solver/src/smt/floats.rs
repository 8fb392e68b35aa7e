//! Floating-point operations in Z3's theory of them.
//!
//! Bits of what is not a number are left open by Z3, and so are conversions that do not fit an integer; the latter are
//! spelled out here as x86-64 has them.

use super::{
    context::{Fault, Term},
    translate::Translator,
};
use cairn_expr::{ExprId, ExprNode, MathFunction, Op};

/// What an operation gives.
pub enum Result {
    /// A floating-point number.
    Float(Term),
    /// Bits.
    Bits(Term),
    /// A truth value.
    Truth(Term),
}

type Maybe = std::result::Result<Option<Result>, Fault>;

/// Translates a floating-point operation; none if Z3 does not know it.
pub fn operation(translator: &mut Translator<'_, '_>, node: &ExprNode) -> Maybe {
    let t = translator;
    let z3 = t.context.z3;
    let operands = node.operands();
    let width = node.width();
    let nearest = t.context.nullary(z3.Z3_mk_fpa_rne)?;
    Ok(Some(match node.op() {
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv => {
            let (a, b) = (t.float(operands[0])?, t.float(operands[1])?);
            let make = match node.op() {
                Op::FAdd => z3.Z3_mk_fpa_add,
                Op::FSub => z3.Z3_mk_fpa_sub,
                Op::FMul => z3.Z3_mk_fpa_mul,
                _ => z3.Z3_mk_fpa_div,
            };
            Result::Float(t.context.ternary(make, nearest, a, b)?)
        }
        Op::FNeg if t.is_float(operands[0]) => {
            let a = t.float(operands[0])?;
            Result::Float(t.context.unary(z3.Z3_mk_fpa_neg, a)?)
        }
        Op::FNeg => {
            let a = t.bits(operands[0])?;
            let sign = t.context.number(width, 1 << (width - 1))?;
            Result::Bits(t.context.binary(z3.Z3_mk_bvxor, a, sign)?)
        }
        Op::FEq | Op::FLt | Op::FLe => {
            let (a, b) = (t.float(operands[0])?, t.float(operands[1])?);
            let make = match node.op() {
                Op::FEq => z3.Z3_mk_fpa_eq,
                Op::FLt => z3.Z3_mk_fpa_lt,
                _ => z3.Z3_mk_fpa_leq,
            };
            Result::Truth(t.context.binary(make, a, b)?)
        }
        Op::FUnordered => {
            let (a, b) = (t.float(operands[0])?, t.float(operands[1])?);
            let (a, b) = (t.context.unary(z3.Z3_mk_fpa_is_nan, a)?, t.context.unary(z3.Z3_mk_fpa_is_nan, b)?);
            Result::Truth(t.context.or(a, b)?)
        }
        Op::FToSigned => {
            let whole = Whole::of(t, operands[0])?;
            Result::Bits(to_signed(t, whole, width)?)
        }
        Op::FToUnsigned => {
            let whole = Whole::of(t, operands[0])?;
            Result::Bits(to_unsigned(t, whole, width)?)
        }
        Op::SignedToF | Op::UnsignedToF => {
            let a = t.bits(operands[0])?;
            let make = match node.op() {
                Op::SignedToF => z3.Z3_mk_fpa_to_fp_signed,
                _ => z3.Z3_mk_fpa_to_fp_unsigned,
            };
            Result::Float(t.context.round_to_float(make, nearest, a, width)?)
        }
        Op::FToF => {
            let a = t.float(operands[0])?;
            Result::Float(t.context.round_to_float(z3.Z3_mk_fpa_to_fp_float, nearest, a, width)?)
        }
        Op::Math => return math(t, node, nearest),
        // C's remainder is not the IEEE one that Z3 has.
        Op::FRem => return Ok(None),
        op => return Err(Fault(format!("{op:?} is not a floating-point operation"))),
    }))
}

fn math(t: &mut Translator<'_, '_>, node: &ExprNode, nearest: Term) -> Maybe {
    let z3 = t.context.z3;
    let operands = node.operands();
    let width = node.width();
    let rounding = match node.function() {
        MathFunction::Floor => Some(z3.Z3_mk_fpa_rtn),
        MathFunction::Ceil => Some(z3.Z3_mk_fpa_rtp),
        MathFunction::Trunc => Some(z3.Z3_mk_fpa_rtz),
        MathFunction::Round => Some(z3.Z3_mk_fpa_rna),
        MathFunction::RoundEven => Some(z3.Z3_mk_fpa_rne),
        _ => None,
    };
    if let Some(rounding) = rounding {
        let a = t.float(operands[0])?;
        let rounding = t.context.nullary(rounding)?;
        return Ok(Some(Result::Float(t.context.binary(z3.Z3_mk_fpa_round_to_integral, rounding, a)?)));
    }
    Ok(Some(match node.function() {
        MathFunction::Sqrt => {
            let a = t.float(operands[0])?;
            Result::Float(t.context.binary(z3.Z3_mk_fpa_sqrt, nearest, a)?)
        }
        MathFunction::Fabs if t.is_float(operands[0]) => {
            let a = t.float(operands[0])?;
            Result::Float(t.context.unary(z3.Z3_mk_fpa_abs, a)?)
        }
        MathFunction::Fabs => {
            let a = t.bits(operands[0])?;
            let rest = t.context.number(width, (1 << (width - 1)) - 1)?;
            Result::Bits(t.context.binary(z3.Z3_mk_bvand, a, rest)?)
        }
        MathFunction::CopySign => {
            let (a, b) = (t.bits(operands[0])?, t.bits(operands[1])?);
            let rest = t.context.extract(width - 2, 0, a)?;
            let sign = t.context.extract(width - 1, width - 1, b)?;
            Result::Bits(t.context.binary(z3.Z3_mk_concat, sign, rest)?)
        }
        MathFunction::Fmin | MathFunction::Fmax => {
            let (a, b) = (t.float(operands[0])?, t.float(operands[1])?);
            let is_first = match node.function() {
                MathFunction::Fmin => t.context.binary(z3.Z3_mk_fpa_lt, a, b)?,
                _ => t.context.binary(z3.Z3_mk_fpa_lt, b, a)?,
            };
            let is_other_nan = t.context.unary(z3.Z3_mk_fpa_is_nan, b)?;
            let is_first = t.context.or(is_first, is_other_nan)?;
            Result::Float(t.context.ite(is_first, a, b)?)
        }
        _ => return Ok(None),
    }))
}

/// A number cut to an integer, still floating-point, and its width.
#[derive(Clone, Copy)]
struct Whole {
    number: Term,
    width: u32,
    towards_zero: Term,
}

impl Whole {
    fn of(t: &mut Translator<'_, '_>, id: ExprId) -> std::result::Result<Self, Fault> {
        let z3 = t.context.z3;
        let a = t.float(id)?;
        let towards_zero = t.context.nullary(z3.Z3_mk_fpa_rtz)?;
        let number = t.context.binary(z3.Z3_mk_fpa_round_to_integral, towards_zero, a)?;
        Ok(Self { number, width: t.width(id), towards_zero })
    }

    /// Whether it is at least `low` and below `high`.
    fn is_within(self, t: &mut Translator<'_, '_>, low: f64, high: f64) -> std::result::Result<Term, Fault> {
        let z3 = t.context.z3;
        let low = self.constant(t, low)?;
        let high = self.constant(t, high)?;
        let low = t.context.binary(z3.Z3_mk_fpa_leq, low, self.number)?;
        let high = t.context.binary(z3.Z3_mk_fpa_lt, self.number, high)?;
        t.context.and(low, high)
    }

    fn constant(self, t: &mut Translator<'_, '_>, value: f64) -> std::result::Result<Term, Fault> {
        let bits =
            if self.width == 32 { u128::from((value as f32).to_bits()) } else { value.to_bits().into() };
        let bits = t.context.number(self.width, bits)?;
        t.context.float_from(t.context.z3.Z3_mk_fpa_to_fp_bv, bits, self.width)
    }

    /// As an integer of `width` bits, into which it fits.
    fn integer(self, t: &mut Translator<'_, '_>, width: u32) -> std::result::Result<Term, Fault> {
        t.context.float_to_signed(self.towards_zero, self.number, width)
    }
}

/// As the instruction for 32 or 64 bits gives it or, above, exactly; what does not fit is that instruction's smallest number.
fn to_signed(t: &mut Translator<'_, '_>, whole: Whole, width: u32) -> std::result::Result<Term, Fault> {
    let working = match width {
        0..=32 => 32,
        33..=64 => 64,
        _ => 128,
    };
    let limit = f64::powi(2.0, working as i32 - 1);
    let fits = whole.is_within(t, -limit, limit)?;
    let value = whole.integer(t, working)?;
    let smallest = match working {
        32 => 1 << 31,
        64 => 1 << 63,
        _ => i128::from(i64::MIN) as u128,
    };
    let smallest = t.context.number(working, smallest)?;
    let result = t.context.ite(fits, value, smallest)?;
    cut(t, result, working, width)
}

/// Likewise. Negative numbers that fit the signed instruction wrap.
fn to_unsigned(t: &mut Translator<'_, '_>, whole: Whole, width: u32) -> std::result::Result<Term, Fault> {
    let working = match width {
        0..=31 => 32,
        32..=63 => 64,
        64 => return either_unsigned(t, whole, 64, 64),
        _ => return either_unsigned(t, whole, 128, width),
    };
    let result = to_signed(t, whole, working)?;
    cut(t, result, working, width)
}

/// The unsigned integer of `working` bits if it fits, else what the signed instruction for 64 bits gives.
fn either_unsigned(
    t: &mut Translator<'_, '_>,
    whole: Whole,
    working: u32,
    width: u32,
) -> std::result::Result<Term, Fault> {
    let fits = whole.is_within(t, 0.0, f64::powi(2.0, working as i32))?;
    // One bit more, so that it fits a signed integer.
    let value = whole.integer(t, working + 1)?;
    let value = t.context.extract(working - 1, 0, value)?;
    let mut otherwise = to_signed(t, whole, 64)?;
    if working > 64 {
        otherwise = t.context.sign_extend(working - 64, otherwise)?;
    }
    let result = t.context.ite(fits, value, otherwise)?;
    cut(t, result, working, width)
}

fn cut(t: &mut Translator<'_, '_>, value: Term, from: u32, to: u32) -> std::result::Result<Term, Fault> {
    if from == to { Ok(value) } else { t.context.extract(to - 1, 0, value) }
}
