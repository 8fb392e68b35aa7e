//! What a node computes.
//!
//! Widths are those of the result unless an operation says otherwise. Integers have 1 to 128 bits and wrap; a truth value
//! is an integer of width 1. Floating-point values are integers that hold the bits of an IEEE number of 32 or 64 bits,
//! rounded to nearest. Every operation has a value for all operands, so that an evaluator never stops:
//!
//! - A division by zero gives all ones, its remainder the dividend. (SMT-LIB's signed division of a negative number by zero
//!   gives 1.) The signed division of the smallest
//!   number by -1 gives the smallest number, its remainder 0.
//! - A shift by the width or more gives 0, or the sign for an arithmetic one.
//! - A conversion to an integer that does not fit gives what x86-64 gives: the smallest signed number of 64 bits if the width
//!   is more than 32 and signed or more than 31 and unsigned, else of 32 bits; cut to the width.

/// An operation. `a`, `b`, `c` are the node's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Op {
    /// The constant `value`, at most 64 bits wide. No operands.
    Constant = 1,
    /// Bytes of the input: region `a`, offset `b`, little-endian; 8 to 64 bits.
    Input = 2,
    /// Something we do not follow that depends on `a` and `b` (0: nothing) and had `value`. Two of them are never the same node.
    Opaque = 3,

    /// Every bit of `a` inverted.
    Not = 4,
    /// `-a`.
    Neg = 5,
    /// How many bits of `a` are set.
    PopCount = 6,
    /// How many zero bits of `a` precede its highest one; the width if there is none.
    LeadingZeros = 7,
    /// How many zero bits of `a` follow its lowest one; the width if there is none.
    TrailingZeros = 8,

    /// `a + b`.
    Add = 16,
    /// `a - b`.
    Sub = 17,
    /// `a * b`.
    Mul = 18,
    /// Unsigned `a / b`.
    UDiv = 19,
    /// Signed `a / b`, towards zero.
    SDiv = 20,
    /// Unsigned remainder.
    URem = 21,
    /// Signed remainder, with the sign of `a`.
    SRem = 22,
    /// Bitwise and.
    And = 23,
    /// Bitwise or.
    Or = 24,
    /// Bitwise exclusive or.
    Xor = 25,
    /// `a` shifted left by `b`, of the same width.
    Shl = 26,
    /// `a` shifted right by `b`, filled with zeros.
    LShr = 27,
    /// `a` shifted right by `b`, filled with the sign.
    AShr = 28,

    /// `a == b`; width 1, operands of any one width.
    Eq = 32,
    /// `a != b`.
    Ne = 33,
    /// Unsigned `a < b`.
    ULt = 34,
    /// Unsigned `a <= b`.
    ULe = 35,
    /// Signed `a < b`.
    SLt = 36,
    /// Signed `a <= b`.
    SLe = 37,

    /// `a`, which is narrower, with zeros above.
    ZExt = 48,
    /// `a`, which is narrower, with its sign above.
    SExt = 49,
    /// As many bits of `a` as the width says, from bit number `b` on (`b` is a number, not a label).
    Extract = 50,
    /// `a` above `b`; the width is the sum of theirs.
    Concat = 51,
    /// `b` if `a`, of width 1, is 1, else `c`.
    Ite = 52,
    /// The little-endian value at byte offset `a` (64 bits) of a constant table; `b` is where its [`super::TableHead`] lies in
    /// the tables region, divided by 8. An offset outside has the value 0.
    Table = 53,

    /// Floating-point `a + b`.
    FAdd = 64,
    /// Floating-point `a - b`.
    FSub = 65,
    /// Floating-point `a * b`.
    FMul = 66,
    /// Floating-point `a / b`.
    FDiv = 67,
    /// C's `fmod(a, b)`.
    FRem = 68,
    /// `-a`: the sign bit inverted.
    FNeg = 69,
    /// `a == b`, false if either is not a number; width 1.
    FEq = 70,
    /// `a < b`, likewise.
    FLt = 71,
    /// `a <= b`, likewise.
    FLe = 72,
    /// Whether `a` or `b` is not a number.
    FUnordered = 73,
    /// `a` towards zero as a signed integer.
    FToSigned = 74,
    /// `a` towards zero as an unsigned integer.
    FToUnsigned = 75,
    /// The signed integer `a` as a floating-point number.
    SignedToF = 76,
    /// The unsigned integer `a` as a floating-point number.
    UnsignedToF = 77,
    /// The floating-point number `a` in another width.
    FToF = 78,
    /// A [`MathFunction`], numbered by `c`, of `a` and, if it has two operands, `b`.
    Math = 79,
}

impl Op {
    /// All operations.
    pub const ALL: [Self; 49] = [
        Self::Constant,
        Self::Input,
        Self::Opaque,
        Self::Not,
        Self::Neg,
        Self::PopCount,
        Self::LeadingZeros,
        Self::TrailingZeros,
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::UDiv,
        Self::SDiv,
        Self::URem,
        Self::SRem,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Shl,
        Self::LShr,
        Self::AShr,
        Self::Eq,
        Self::Ne,
        Self::ULt,
        Self::ULe,
        Self::SLt,
        Self::SLe,
        Self::ZExt,
        Self::SExt,
        Self::Extract,
        Self::Concat,
        Self::Ite,
        Self::Table,
        Self::FAdd,
        Self::FSub,
        Self::FMul,
        Self::FDiv,
        Self::FRem,
        Self::FNeg,
        Self::FEq,
        Self::FLt,
        Self::FLe,
        Self::FUnordered,
        Self::FToSigned,
        Self::FToUnsigned,
        Self::SignedToF,
        Self::UnsignedToF,
        Self::FToF,
        Self::Math,
    ];

    /// Reads an operation written by the target.
    pub fn from_target(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|op| *op as u8 == number)
    }
}

/// A function of the mathematical library, in `float` or `double` as the width says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
#[expect(missing_docs, reason = "they are named as in C")]
pub enum MathFunction {
    Fabs = 0,
    Sqrt = 1,
    Floor = 2,
    Ceil = 3,
    Trunc = 4,
    Round = 5,
    RoundEven = 6,
    Exp = 7,
    Exp2 = 8,
    Log = 9,
    Log2 = 10,
    Log10 = 11,
    Sin = 12,
    Cos = 13,
    Tan = 14,
    Asin = 15,
    Acos = 16,
    Atan = 17,
    Sinh = 18,
    Cosh = 19,
    Tanh = 20,
    Cbrt = 21,
    Pow = 22,
    Atan2 = 23,
    Hypot = 24,
    Fmin = 25,
    Fmax = 26,
    CopySign = 27,
}

impl MathFunction {
    /// All functions, in the order of their numbers.
    pub const ALL: [Self; 28] = [
        Self::Fabs,
        Self::Sqrt,
        Self::Floor,
        Self::Ceil,
        Self::Trunc,
        Self::Round,
        Self::RoundEven,
        Self::Exp,
        Self::Exp2,
        Self::Log,
        Self::Log2,
        Self::Log10,
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Sinh,
        Self::Cosh,
        Self::Tanh,
        Self::Cbrt,
        Self::Pow,
        Self::Atan2,
        Self::Hypot,
        Self::Fmin,
        Self::Fmax,
        Self::CopySign,
    ];

    /// Reads a number written by the target.
    pub fn from_target(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// How many operands it has.
    pub fn arity(self) -> usize {
        if self as u32 >= Self::Pow as u32 { 2 } else { 1 }
    }
}
