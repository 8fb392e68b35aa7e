//! Guideposts: what a value in the program should be.
//!
//! A [`Guidepost`] asks something of the value at a patch. A run that breaks it ends there; one that keeps it has gone
//! where somebody wanted it to go. It is data, so the same one can be armed in a run, drawn from recorded values, or
//! solved for.

use crate::{
    ids::{MutantId, PatchId},
    mutants::ValueType,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A condition on the value at a patch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Guidepost {
    /// Where.
    pub patch: PatchId,
    /// Which evaluations count.
    pub when: When,
    /// What is asked of the value.
    pub predicate: Predicate,
}

/// Which evaluations of a run a guidepost looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// The first.
    First,
    /// Every one.
    Every,
}

/// What a guidepost asks of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Predicate {
    /// It is one of these.
    OneOf(Vec<SiteValue>),
    /// It is none of these.
    NoneOf(Vec<SiteValue>),
    /// It lies between these, both included.
    Between(SiteValue, SiteValue),
    /// It differs from what this mutant of the patch would make of it. The program goes on with the original value.
    DiffersFromMutant(MutantId),
}

/// The value of an expression in a run, with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteValue {
    /// A truth value.
    Bool(bool),
    /// A signed integer of up to 64 bits.
    Signed(i64),
    /// An unsigned integer of up to 64 bits.
    Unsigned(u64),
    /// The bits of a `float`.
    Float(u32),
    /// The bits of a `double`.
    Double(u64),
    /// An address.
    Pointer(u64),
}

impl SiteValue {
    /// Reads a value of `value_type` from the low bits of a word, as the runtime notes it.
    pub fn from_bits(value_type: ValueType, bits: u64) -> Self {
        match value_type {
            ValueType::Bool => Self::Bool(bits & 1 != 0),
            ValueType::Int { bits: width, is_signed } => {
                let shift = 64 - u32::from(width).clamp(1, 64);
                match is_signed {
                    true => Self::Signed((bits << shift).cast_signed() >> shift),
                    false => Self::Unsigned(bits << shift >> shift),
                }
            }
            ValueType::Float { bits: 32 } => Self::Float(bits as u32),
            ValueType::Float { .. } => Self::Double(bits),
            ValueType::Pointer => Self::Pointer(bits),
        }
    }

    /// The low bits of a word, as the runtime compares them; `None` if this is no value of `value_type`.
    pub fn to_bits(self, value_type: ValueType) -> Option<u64> {
        let bits = match self {
            Self::Bool(value) => u64::from(value),
            Self::Signed(value) => value.cast_unsigned(),
            Self::Float(bits) => u64::from(bits),
            Self::Unsigned(value) | Self::Double(value) | Self::Pointer(value) => value,
        };
        let bits = match value_type {
            ValueType::Int { bits: width @ 1..64, .. } => bits & ((1 << width) - 1),
            _ => bits,
        };
        (Self::from_bits(value_type, bits) == self).then_some(bits)
    }
}

impl fmt::Display for SiteValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Signed(value) => write!(f, "{value}"),
            Self::Unsigned(value) => write!(f, "{value}"),
            Self::Float(bits) => write!(f, "{:?}", f32::from_bits(*bits)),
            Self::Double(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            Self::Pointer(address) => write!(f, "{address:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_sign_and_width_of_their_type() {
        let int = |bits, is_signed| ValueType::Int { bits, is_signed };
        let check = |value_type, bits, expected: &str, back: u64| {
            let value = SiteValue::from_bits(value_type, bits);
            assert_eq!((value.to_string().as_str(), value.to_bits(value_type)), (expected, Some(back)));
        };
        check(int(8, true), 0xff, "-1", 0xff);
        check(int(8, false), 0x1ff, "255", 0xff);
        check(int(64, true), u64::MAX, "-1", u64::MAX);
        check(int(32, true), 0x8000_0000, "-2147483648", 0x8000_0000);
        check(ValueType::Bool, 1, "true", 1);
        check(ValueType::Float { bits: 32 }, u64::from(1.5f32.to_bits()), "1.5", 0x3fc0_0000);
        check(ValueType::Float { bits: 64 }, f64::NAN.to_bits(), "NaN", f64::NAN.to_bits());
        check(ValueType::Pointer, 4096, "0x1000", 4096);
    }

    #[test]
    fn a_value_of_another_type_has_no_bits() {
        let byte = ValueType::Int { bits: 8, is_signed: true };
        assert_eq!(SiteValue::Signed(-128).to_bits(byte), Some(0x80));
        assert_eq!(SiteValue::Signed(128).to_bits(byte), None);
        assert_eq!(SiteValue::Unsigned(1).to_bits(byte), None);
        assert_eq!(SiteValue::Bool(true).to_bits(byte), None);
    }
}
