//! A value with its type.

use cairn_model::mutants::ValueType;
use std::fmt;

/// A value of some type, as the bits it has in a register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Value {
    value_type: ValueType,
    /// Bits above the width of the type are 0. Floats as IEEE 754 has them.
    bits: u128,
}

impl Value {
    /// The value with these low bits.
    pub fn from_bits(value_type: ValueType, bits: u128) -> Self {
        Self { value_type, bits: bits & mask(width(value_type)) }
    }

    /// A truth value.
    pub fn truth(value: bool) -> Self {
        Self::from_bits(ValueType::Bool, u128::from(value))
    }

    /// An integer, wrapped around to the width of its type.
    pub fn integer(value_type: ValueType, value: i128) -> Self {
        Self::from_bits(value_type, value as u128)
    }

    /// A floating-point number, rounded to its type.
    pub fn float(value_type: ValueType, value: f64) -> Self {
        let bits = match value_type {
            ValueType::Float { bits: 32 } => u128::from((value as f32).to_bits()),
            _ => u128::from(value.to_bits()),
        };
        Self { value_type, bits }
    }

    /// Its type.
    pub fn value_type(self) -> ValueType {
        self.value_type
    }

    /// Its bits, zeros above.
    pub fn bits(self) -> u128 {
        self.bits
    }

    /// As a number with a sign, whatever C thinks of its type.
    pub fn as_signed(self) -> i128 {
        let unused = 128 - width(self.value_type);
        ((self.bits << unused) as i128) >> unused
    }

    /// As a floating-point number; meaningless for other types.
    pub fn as_float(self) -> f64 {
        match self.value_type {
            ValueType::Float { bits: 32 } => f64::from(f32::from_bits(self.bits as u32)),
            _ => f64::from_bits(self.bits as u64),
        }
    }

    /// Whether C takes it as true.
    pub fn is_true(self) -> bool {
        match self.value_type {
            ValueType::Float { .. } => self.as_float() != 0.0,
            _ => self.bits != 0,
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value_type {
            ValueType::Bool => write!(f, "{}", self.bits != 0),
            ValueType::Int { bits, is_signed: true } => write!(f, "{}i{bits}", self.as_signed()),
            ValueType::Int { bits, is_signed: false } => write!(f, "{}u{bits}", self.bits),
            ValueType::Float { bits } => write!(f, "{:?}f{bits}", self.as_float()),
            ValueType::Pointer => write!(f, "{:#x}", self.bits),
        }
    }
}

/// The width of a type in bits.
pub(super) fn width(value_type: ValueType) -> u32 {
    match value_type {
        ValueType::Bool => 1,
        ValueType::Int { bits, .. } | ValueType::Float { bits } => u32::from(bits),
        ValueType::Pointer => 64,
    }
}

fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}
