//! Types as C computes with them.

use crate::ir::CodeType;
use cairn_model::{
    facts::{TypeClass, TypeFact},
    mutants::ValueType,
};

/// The type `int`.
pub const INT: ValueType = ValueType::Int { bits: 32, is_signed: true };

/// The type of a value, if mutants can compute with it.
pub fn scalar(fact: &TypeFact) -> Option<ValueType> {
    let integer = |is_signed| {
        let bits = u8::try_from(fact.bits).ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64 | 128))?;
        Some(ValueType::Int { bits, is_signed })
    };
    match fact.class {
        TypeClass::Bool => Some(ValueType::Bool),
        TypeClass::Signed => integer(true),
        TypeClass::Unsigned => integer(false),
        TypeClass::Float if matches!(fact.bits, 32 | 64) => Some(ValueType::Float { bits: fact.bits as u8 }),
        TypeClass::Pointer => Some(ValueType::Pointer),
        _ => None,
    }
}

/// How a value of this type appears in the code.
pub fn code_type(value_type: ValueType) -> CodeType {
    match value_type {
        ValueType::Bool => CodeType::Int(1),
        ValueType::Int { bits, .. } => CodeType::Int(bits.into()),
        ValueType::Float { bits } => CodeType::Float(bits.into()),
        ValueType::Pointer => CodeType::Pointer,
    }
}

/// How it appears in memory: truth values take a byte.
pub fn memory_type(value_type: ValueType) -> CodeType {
    match value_type {
        ValueType::Bool => CodeType::Int(8),
        other => code_type(other),
    }
}

/// After C's promotion of small integers.
pub fn promoted(value_type: ValueType) -> ValueType {
    match value_type {
        ValueType::Bool => INT,
        ValueType::Int { bits, .. } if bits < 32 => INT,
        other => other,
    }
}

/// The type in which C computes with both, if both are numbers.
pub fn common(left: ValueType, right: ValueType) -> Option<ValueType> {
    match (promoted(left), promoted(right)) {
        (ValueType::Float { bits }, ValueType::Float { bits: other }) => {
            Some(ValueType::Float { bits: bits.max(other) })
        }
        (float @ ValueType::Float { .. }, ValueType::Int { .. })
        | (ValueType::Int { .. }, float @ ValueType::Float { .. }) => Some(float),
        (
            ValueType::Int { bits, is_signed },
            ValueType::Int { bits: other_bits, is_signed: other_is_signed },
        ) => Some(match bits.cmp(&other_bits) {
            std::cmp::Ordering::Greater => ValueType::Int { bits, is_signed },
            std::cmp::Ordering::Less => ValueType::Int { bits: other_bits, is_signed: other_is_signed },
            std::cmp::Ordering::Equal => ValueType::Int { bits, is_signed: is_signed && other_is_signed },
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAR: ValueType = ValueType::Int { bits: 8, is_signed: true };
    const UNSIGNED: ValueType = ValueType::Int { bits: 32, is_signed: false };
    const LONG: ValueType = ValueType::Int { bits: 64, is_signed: true };
    const FLOAT: ValueType = ValueType::Float { bits: 32 };

    #[test]
    fn small_integers_become_int() {
        assert_eq!(common(CHAR, CHAR), Some(INT));
        assert_eq!(common(ValueType::Bool, CHAR), Some(INT));
    }

    #[test]
    fn the_wider_type_wins_and_unsigned_wins_a_tie() {
        assert_eq!(common(INT, UNSIGNED), Some(UNSIGNED));
        assert_eq!(common(UNSIGNED, LONG), Some(LONG));
        assert_eq!(common(LONG, FLOAT), Some(FLOAT));
        assert_eq!(common(LONG, ValueType::Pointer), None);
    }
}
