//! One step of a tape.

use std::ops::Range;

use cairn_abi::symbolic::{MathFunction, Op};

use crate::{
    bits::mask,
    value::{Bits, compute, float, math, table_value},
};

/// Where a value lies: in one register, or in two from this one on if it is wider than 64 bits. Bits above the width are zero.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub register: u32,
    pub width: u8,
}

impl Place {
    pub fn read(self, registers: &[u64]) -> u128 {
        let at = self.register as usize;
        let low = u128::from(registers[at]);
        if self.width > 64 { u128::from(registers[at + 1]) << 64 | low } else { low }
    }

    fn bits(self, registers: &[u64]) -> Bits {
        // What is not a register has no width.
        match self.width {
            0 => Bits { value: self.register.into(), width: 32 },
            _ => Bits { value: self.read(registers), width: self.width.into() },
        }
    }
}

/// An operation on registers. Like [`ExprNode`](crate::ExprNode), it keeps what is not an operand in the same fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    op: Op,
    /// Whether the result or an operand is wider than 64 bits.
    is_wide: bool,
    width: u8,
    widths: [u8; 3],
    /// The register of the result.
    pub target: u32,
    a: u32,
    b: u32,
    c: u32,
    /// Ones in the lowest `width` bits, at most 64.
    mask: u64,
}

impl Instruction {
    pub fn new(op: Op, target: Place, a: Place, b: Place, c: Place) -> Self {
        let widths = [a.width, b.width, c.width];
        Self {
            op,
            is_wide: target.width > 64 || widths.iter().any(|width| *width > 64),
            width: target.width,
            widths,
            target: target.register,
            a: a.register,
            b: b.register,
            c: c.register,
            mask: mask(target.width.into()) as u64,
        }
    }

    /// The slots an input reads.
    pub fn slots(&self) -> Option<Range<usize>> {
        let start = self.a as usize;
        (self.op == Op::Input).then(|| start..start + usize::from(self.width) / 8)
    }

    /// The registers it reads, of wide ones the first.
    pub fn sources(&self) -> impl Iterator<Item = u32> {
        let registers = [self.a, self.b, self.c].into_iter();
        registers.zip(self.widths).filter(|(_, width)| *width > 0).map(|(register, _)| register)
    }

    fn wide(&self, registers: &mut [u64], input: &[u8], tables: &[Box<[u8]>]) {
        let [a, b, c] = self.widths;
        let a = Place { register: self.a, width: a }.bits(registers);
        let b = Place { register: self.b, width: b }.bits(registers);
        let c = Place { register: self.c, width: c }.bits(registers);
        let width = u32::from(self.width);
        let value = match self.op {
            Op::Input => {
                let at = self.a as usize;
                let bytes = input[at..at + width as usize / 8].iter().rev();
                bytes.fold(0, |value, byte| value << 8 | u128::from(*byte))
            }
            Op::Table => table_value(&tables[self.b as usize], a.value, width),
            op => compute(op, width, a, b, c),
        };
        let at = self.target as usize;
        registers[at] = value as u64;
        if width > 64 {
            registers[at + 1] = (value >> 64) as u64;
        }
    }
}

/// Runs instructions in their order.
pub(super) fn execute(code: &[Instruction], registers: &mut [u64], input: &[u8], tables: &[Box<[u8]>]) {
    for instruction in code {
        if instruction.is_wide {
            instruction.wide(registers, input, tables);
        } else {
            registers[instruction.target as usize] = narrow(instruction, registers, input, tables);
        }
    }
}

/// The value of an instruction whose values all fit 64 bits.
#[inline]
fn narrow(instruction: &Instruction, registers: &[u64], input: &[u8], tables: &[Box<[u8]>]) -> u64 {
    let at = instruction;
    let a = || registers[at.a as usize];
    let b = || registers[at.b as usize];
    let signed = |value: u64, width: u8| {
        let unused = 64 - u32::from(width);
        ((value << unused) as i64) >> unused
    };
    let signed_a = || signed(a(), at.widths[0]);
    let signed_b = || signed(b(), at.widths[1]);
    let width = u64::from(at.width);
    let float_width = u32::from(at.width);
    let result = match at.op {
        Op::Input => load(input, at.a as usize, usize::from(at.width) / 8),
        Op::Not => !a(),
        Op::Neg => a().wrapping_neg(),
        Op::PopCount => a().count_ones().into(),
        Op::LeadingZeros => u64::from(a().leading_zeros()) + width - 64,
        Op::TrailingZeros => u64::from(a().trailing_zeros()).min(width),
        Op::Add => a().wrapping_add(b()),
        Op::Sub => a().wrapping_sub(b()),
        Op::Mul => a().wrapping_mul(b()),
        Op::UDiv => a().checked_div(b()).unwrap_or(u64::MAX),
        Op::URem => a().checked_rem(b()).unwrap_or(a()),
        Op::SDiv if b() == 0 => u64::MAX,
        Op::SDiv => signed_a().wrapping_div(signed_b()) as u64,
        Op::SRem if b() == 0 => a(),
        Op::SRem => signed_a().wrapping_rem(signed_b()) as u64,
        Op::And => a() & b(),
        Op::Or => a() | b(),
        Op::Xor => a() ^ b(),
        Op::Shl => {
            if b() < width {
                a() << b()
            } else {
                0
            }
        }
        Op::LShr => {
            if b() < width {
                a() >> b()
            } else {
                0
            }
        }
        Op::AShr => (signed_a() >> b().min(63)) as u64,
        Op::Eq => (a() == b()).into(),
        Op::Ne => (a() != b()).into(),
        Op::ULt => (a() < b()).into(),
        Op::ULe => (a() <= b()).into(),
        Op::SLt => (signed_a() < signed_b()).into(),
        Op::SLe => (signed_a() <= signed_b()).into(),
        Op::ZExt => a(),
        Op::SExt => signed_a() as u64,
        Op::Extract => a() >> at.b,
        Op::Concat => a() << at.widths[1] | b(),
        Op::Ite => {
            if a() == 1 {
                b()
            } else {
                registers[at.c as usize]
            }
        }
        Op::Table => table_value(&tables[at.b as usize], a().into(), float_width) as u64,
        Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem => {
            float::arithmetic(at.op, float_width, a(), b())
        }
        Op::FEq | Op::FLt | Op::FLe | Op::FUnordered => {
            float::compare(at.op, at.widths[0].into(), a(), b()).into()
        }
        Op::Math => {
            let function = MathFunction::from_target(at.c).expect("it was compiled from a function");
            let second = if function.arity() == 2 { b() } else { 0 };
            math(function, float_width, a(), second)
        }
        Op::FNeg | Op::FToSigned | Op::FToUnsigned | Op::SignedToF | Op::UnsignedToF | Op::FToF => {
            let bits = Bits { value: a().into(), width: at.widths[0].into() };
            compute(at.op, float_width, bits, Bits::default(), Bits::default()) as u64
        }
        Op::Constant | Op::Opaque => unreachable!("{:?} is in place before the first run", at.op),
    };
    result & at.mask
}

/// Bytes as a little-endian number.
#[inline]
fn load(input: &[u8], at: usize, size: usize) -> u64 {
    match size {
        1 => input[at].into(),
        4 => u32::from_le_bytes(input[at..at + 4].try_into().expect("four bytes")).into(),
        8 => u64::from_le_bytes(input[at..at + 8].try_into().expect("eight bytes")),
        _ => input[at..at + size].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)),
    }
}
