//! C's rules about types.

use cairn_model::{
    facts::{TypeClass, TypeFact},
    mutants::ValueType,
};

/// `int`.
pub const INT: ValueType = ValueType::Int { bits: 32, is_signed: true };

/// The type of values of a C type; `None` if mutants cannot hold them.
pub fn of_fact(fact: &TypeFact) -> Option<ValueType> {
    let bits = u8::try_from(fact.bits).ok()?;
    match fact.class {
        TypeClass::Bool => Some(ValueType::Bool),
        TypeClass::Signed | TypeClass::Unsigned if matches!(bits, 8 | 16 | 32 | 64 | 128) => {
            Some(ValueType::Int { bits, is_signed: fact.class == TypeClass::Signed })
        }
        TypeClass::Float if matches!(bits, 32 | 64) => Some(ValueType::Float { bits }),
        TypeClass::Pointer if bits == 64 => Some(ValueType::Pointer),
        _ => None,
    }
}

/// The type after integer promotion.
pub fn promoted(value_type: ValueType) -> ValueType {
    match value_type {
        ValueType::Bool => INT,
        ValueType::Int { bits, .. } if bits < 32 => INT,
        other => other,
    }
}

/// The type after the usual arithmetic conversions; `None` if a side is a pointer.
pub fn common(left: ValueType, right: ValueType) -> Option<ValueType> {
    match (promoted(left), promoted(right)) {
        (ValueType::Float { bits: left }, ValueType::Float { bits: right }) => {
            Some(ValueType::Float { bits: left.max(right) })
        }
        (float @ ValueType::Float { .. }, ValueType::Int { .. })
        | (ValueType::Int { .. }, float @ ValueType::Float { .. }) => Some(float),
        (
            ValueType::Int { bits: left, is_signed: left_signed },
            ValueType::Int { bits: right, is_signed: right_signed },
        ) => {
            let bits = left.max(right);
            // The unsigned side wins unless the signed one is wider.
            let unsigned_wins = (left == bits && !left_signed) || (right == bits && !right_signed);
            Some(ValueType::Int { bits, is_signed: !unsigned_wins })
        }
        _ => None,
    }
}

/// Whether every value of `from` is the same number in `to`.
pub fn preserves_value(from: ValueType, to: ValueType) -> bool {
    match (from, to) {
        (ValueType::Bool, ValueType::Bool | ValueType::Int { .. } | ValueType::Float { .. }) => true,
        (
            ValueType::Int { bits: from, is_signed: from_signed },
            ValueType::Int { bits: to, is_signed: to_signed },
        ) => match (from_signed, to_signed) {
            (true, true) | (false, false) => to >= from,
            (false, true) => to > from,
            (true, false) => false,
        },
        (ValueType::Int { bits: from, .. }, ValueType::Float { bits: to }) => {
            from <= if to == 32 { 24 } else { 53 }
        }
        (ValueType::Float { bits: from }, ValueType::Float { bits: to }) => to >= from,
        (ValueType::Pointer, ValueType::Pointer) => true,
        _ => false,
    }
}

/// Whether C has arithmetic on it.
pub fn is_arithmetic(value_type: ValueType) -> bool {
    value_type != ValueType::Pointer
}

/// Whether it is an integer or truth value.
pub fn is_integer(value_type: ValueType) -> bool {
    matches!(value_type, ValueType::Bool | ValueType::Int { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(bits: u8) -> ValueType {
        ValueType::Int { bits, is_signed: true }
    }

    fn unsigned(bits: u8) -> ValueType {
        ValueType::Int { bits, is_signed: false }
    }

    #[test]
    fn narrow_types_become_int() {
        assert_eq!(promoted(unsigned(16)), INT);
        assert_eq!(promoted(ValueType::Bool), INT);
        assert_eq!(promoted(unsigned(32)), unsigned(32));
    }

    #[test]
    fn unsigned_wins_unless_the_signed_side_is_wider() {
        assert_eq!(common(int(32), unsigned(32)), Some(unsigned(32)));
        assert_eq!(common(int(64), unsigned(32)), Some(int(64)));
        assert_eq!(common(unsigned(64), int(8)), Some(unsigned(64)));
        assert_eq!(common(unsigned(8), unsigned(16)), Some(INT));
        assert_eq!(common(int(64), ValueType::Float { bits: 32 }), Some(ValueType::Float { bits: 32 }));
        assert_eq!(common(ValueType::Pointer, INT), None);
    }

    #[test]
    fn a_value_survives_where_the_type_holds_it() {
        assert!(preserves_value(unsigned(32), int(64)));
        assert!(!preserves_value(unsigned(32), int(32)));
        assert!(!preserves_value(int(8), unsigned(64)));
        assert!(preserves_value(int(32), ValueType::Float { bits: 64 }));
        assert!(!preserves_value(int(32), ValueType::Float { bits: 32 }));
    }
}
