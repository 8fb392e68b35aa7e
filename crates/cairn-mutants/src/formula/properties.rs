//! Builder and evaluator together against Rust's arithmetic.

use super::{BinaryOperator, Builder, Family, Trap, Value, evaluate, types};
use cairn_model::mutants::ValueType;
use proptest::prelude::*;

/// A number of a concrete type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    I128(i128),
    U128(u128),
    F32(f32),
    F64(f64),
    /// Of a comparison.
    Truth(bool),
}
use Number::*;

fn integer_types() -> impl Strategy<Value = ValueType> {
    prop_oneof![
        1 => Just(ValueType::Bool),
        6 => (prop::sample::select(vec![8u8, 16, 32, 64, 128]), any::<bool>())
            .prop_map(|(bits, is_signed)| ValueType::Int { bits, is_signed }),
    ]
}

fn integers() -> impl Strategy<Value = Value> {
    // Small numbers meet more often: they divide, compare as equal, and shift by less than the width.
    let bits = prop_oneof![any::<u128>(), (0u128..4), (0u128..4).prop_map(|small| u128::MAX - small)];
    let extreme = (integer_types(), 0u32..128).prop_map(|(value_type, bit)| (value_type, 1u128 << bit));
    prop_oneof![3 => (integer_types(), bits), 1 => extreme]
        .prop_map(|(value_type, bits)| Value::from_bits(value_type, bits))
}

fn floats() -> impl Strategy<Value = Value> {
    let numbers = prop_oneof![any::<f64>(), (-4i32..4).prop_map(f64::from), Just(f64::NAN)];
    (prop::sample::select(vec![32u8, 64]), numbers)
        .prop_map(|(bits, number)| Value::float(ValueType::Float { bits }, number))
}

fn numbers() -> impl Strategy<Value = Value> {
    prop_oneof![3 => integers(), 1 => floats()]
}

fn operators(families: &'static [Family]) -> impl Strategy<Value = BinaryOperator> {
    let all: Vec<_> = families.iter().flat_map(|family| family.members()).collect();
    prop::sample::select(all)
}

/// Promotes as C does, by cases.
fn promote(value: Value) -> Number {
    match value.value_type() {
        ValueType::Bool => I32(i32::from(value.bits() == 1)),
        ValueType::Int { bits: 8, is_signed: true } => I32(i32::from(value.bits() as u8 as i8)),
        ValueType::Int { bits: 8, is_signed: false } => I32(i32::from(value.bits() as u8)),
        ValueType::Int { bits: 16, is_signed: true } => I32(i32::from(value.bits() as u16 as i16)),
        ValueType::Int { bits: 16, is_signed: false } => I32(i32::from(value.bits() as u16)),
        ValueType::Int { bits: 32, is_signed: true } => I32(value.bits() as i32),
        ValueType::Int { bits: 32, is_signed: false } => U32(value.bits() as u32),
        ValueType::Int { bits: 64, is_signed: true } => I64(value.bits() as i64),
        ValueType::Int { bits: 64, is_signed: false } => U64(value.bits() as u64),
        ValueType::Int { is_signed: true, .. } => I128(value.bits() as i128),
        ValueType::Int { is_signed: false, .. } => U128(value.bits()),
        ValueType::Float { bits: 32 } => F32(f32::from_bits(value.bits() as u32)),
        ValueType::Float { .. } => F64(f64::from_bits(value.bits() as u64)),
        ValueType::Pointer => unreachable!("only numbers are drawn"),
    }
}

macro_rules! cast {
    ($number:expr, $kind:ty) => {
        match $number {
            I32(n) => n as $kind,
            U32(n) => n as $kind,
            I64(n) => n as $kind,
            U64(n) => n as $kind,
            I128(n) => n as $kind,
            U128(n) => n as $kind,
            F32(n) => n as $kind,
            F64(n) => n as $kind,
            Truth(_) => unreachable!("comparisons are not operands"),
        }
    };
}

/// `None` stands for SIGFPE.
macro_rules! integer_operation {
    ($operator:expr, $left:expr, $right:expr, $kind:ty, $wrap:path) => {{
        let (a, b) = (cast!($left, $kind), cast!($right, $kind));
        match $operator {
            BinaryOperator::Add => Some($wrap(a.wrapping_add(b))),
            BinaryOperator::Subtract => Some($wrap(a.wrapping_sub(b))),
            BinaryOperator::Multiply => Some($wrap(a.wrapping_mul(b))),
            BinaryOperator::Divide => a.checked_div(b).map($wrap),
            BinaryOperator::Remainder => a.checked_rem(b).map($wrap),
            BinaryOperator::BitAnd => Some($wrap(a & b)),
            BinaryOperator::BitOr => Some($wrap(a | b)),
            BinaryOperator::BitXor => Some($wrap(a ^ b)),
            other => Some(Truth(relation(other, &a, &b))),
        }
    }};
}

macro_rules! float_operation {
    ($operator:expr, $left:expr, $right:expr, $kind:ty, $wrap:path) => {{
        let (a, b) = (cast!($left, $kind), cast!($right, $kind));
        match $operator {
            BinaryOperator::Add => Some($wrap(a + b)),
            BinaryOperator::Subtract => Some($wrap(a - b)),
            BinaryOperator::Multiply => Some($wrap(a * b)),
            BinaryOperator::Divide => Some($wrap(a / b)),
            other => Some(Truth(relation(other, &a, &b))),
        }
    }};
}

fn relation<T: PartialOrd>(operator: BinaryOperator, a: &T, b: &T) -> bool {
    match operator {
        BinaryOperator::Less => a < b,
        BinaryOperator::LessOrEqual => a <= b,
        BinaryOperator::Greater => a > b,
        BinaryOperator::GreaterOrEqual => a >= b,
        BinaryOperator::Equal => a == b,
        BinaryOperator::NotEqual => a != b,
        other => unreachable!("{other:?} is no relation"),
    }
}

/// The usual arithmetic conversions as the ranks of C's types order them.
fn reference(operator: BinaryOperator, left: Number, right: Number) -> Option<Number> {
    match (left, right) {
        (F64(_), _) | (_, F64(_)) => float_operation!(operator, left, right, f64, F64),
        (F32(_), _) | (_, F32(_)) => float_operation!(operator, left, right, f32, F32),
        (U128(_), _) | (_, U128(_)) => integer_operation!(operator, left, right, u128, U128),
        (I128(_), _) | (_, I128(_)) => integer_operation!(operator, left, right, i128, I128),
        (U64(_), _) | (_, U64(_)) => integer_operation!(operator, left, right, u64, U64),
        (I64(_), _) | (_, I64(_)) => integer_operation!(operator, left, right, i64, I64),
        (U32(_), _) | (_, U32(_)) => integer_operation!(operator, left, right, u32, U32),
        _ => integer_operation!(operator, left, right, i32, I32),
    }
}

/// Shifts are done in the left side's type.
fn reference_shift(operator: BinaryOperator, left: Number, right: Number) -> Number {
    let amount = cast!(right, u128) as u32;
    macro_rules! shift {
        ($number:expr, $wrap:path) => {
            $wrap(match operator {
                BinaryOperator::ShiftLeft => $number.wrapping_shl(amount),
                _ => $number.wrapping_shr(amount),
            })
        };
    }
    match left {
        I32(n) => shift!(n, I32),
        U32(n) => shift!(n, U32),
        I64(n) => shift!(n, I64),
        U64(n) => shift!(n, U64),
        I128(n) => shift!(n, I128),
        U128(n) => shift!(n, U128),
        other => unreachable!("{other:?} is not shifted"),
    }
}

/// Builds `left operator right` and evaluates it, in the type C gives it.
fn ours(operator: BinaryOperator, left: Value, right: Value) -> Result<Value, Trap> {
    let mut builder = Builder::new();
    let a = builder.operand(0, left.value_type());
    let b = builder.operand(1, right.value_type());
    let result = builder.binary(operator, a, b).expect("C has this operation");
    let formula = builder.finish(result, result.value_type).expect("it has this type already");
    let computed = evaluate(&formula, left, &[left, right], &[])?;
    // Nodes do not know signedness; the expression does.
    Ok(Value::from_bits(result.value_type, computed.bits()))
}

fn agrees(ours: Result<Value, Trap>, reference: Option<Number>) -> Result<(), TestCaseError> {
    let Some(reference) = reference else {
        prop_assert_eq!(ours, Err(Trap::Division));
        return Ok(());
    };
    let ours = ours.expect("it does not trap");
    let is_same = match reference {
        Truth(truth) => ours == Value::truth(truth),
        F32(number) if number.is_nan() => ours.as_float().is_nan(),
        F64(number) if number.is_nan() => ours.as_float().is_nan(),
        other => promote(ours) == other,
    };
    prop_assert!(is_same, "{:?} is not {:?}", ours, reference);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn integers_compute_as_in_c(
        operator in operators(&[Family::Arithmetic, Family::Bitwise, Family::Relational]),
        left in integers(),
        right in integers(),
    ) {
        agrees(ours(operator, left, right), reference(operator, promote(left), promote(right)))?;
    }

    #[test]
    fn shifts_have_the_type_of_their_left_side(
        operator in operators(&[Family::Shift]),
        left in integers(),
        right in integers(),
    ) {
        agrees(ours(operator, left, right), Some(reference_shift(operator, promote(left), promote(right))))?;
    }

    #[test]
    fn floats_compute_as_in_c(
        operator in operators(&[Family::Arithmetic, Family::Relational]),
        left in numbers(),
        right in floats(),
    ) {
        prop_assume!(operator != BinaryOperator::Remainder);
        agrees(ours(operator, left, right), reference(operator, promote(left), promote(right)))?;
        agrees(ours(operator, right, left), reference(operator, promote(right), promote(left)))?;
    }

    #[test]
    fn logical_operators_look_at_truth(left in numbers(), right in numbers()) {
        let truth = |value| match promote(value) {
            F32(number) => number != 0.0,
            F64(number) => number != 0.0,
            other => cast!(other, u128) != 0,
        };
        let (a, b) = (truth(left), truth(right));
        prop_assert_eq!(ours(BinaryOperator::LogicalAnd, left, right), Ok(Value::truth(a && b)));
        prop_assert_eq!(ours(BinaryOperator::LogicalOr, left, right), Ok(Value::truth(a || b)));
    }

    #[test]
    fn conversions_between_integers_wrap_and_extend_as_casts_do(from in integers(), to in integer_types()) {
        let mut builder = Builder::new();
        let value = builder.original(from.value_type());
        let formula = builder.finish(value, to).expect("numbers convert");
        let converted = evaluate(&formula, from, &[], &[]).expect("conversions do not trap");
        let number = cast!(promote(from), u128);
        let expected = match to {
            ValueType::Bool => u128::from(number != 0),
            ValueType::Int { bits: 8, .. } => (number as u8).into(),
            ValueType::Int { bits: 16, .. } => (number as u16).into(),
            ValueType::Int { bits: 32, .. } => (number as u32).into(),
            ValueType::Int { bits: 64, .. } => (number as u64).into(),
            _ => number,
        };
        prop_assert_eq!(converted.bits(), expected);
    }

    #[test]
    fn floats_convert_to_integers_that_hold_them(number in -1e30f64..1e30, small in -300.0f64..300.0, to in integer_types()) {
        for number in [number, small] {
            let to_signed = matches!(to, ValueType::Int { is_signed: true, .. });
            let (least, most) = match to {
                ValueType::Int { bits, .. } if to_signed => {
                    (-(2f64.powi(i32::from(bits) - 1)), 2f64.powi(i32::from(bits) - 1))
                }
                ValueType::Int { bits, .. } => (0.0, 2f64.powi(bits.into())),
                _ => continue,
            };
            if number.trunc() < least || number.trunc() >= most {
                continue;
            }
            let from = Value::float(ValueType::Float { bits: 64 }, number);
            let mut builder = Builder::new();
            let value = builder.original(from.value_type());
            let formula = builder.finish(value, to).expect("numbers convert");
            let converted = evaluate(&formula, from, &[], &[]).expect("conversions do not trap");
            let expected = if to_signed { Value::integer(to, number as i128) } else { Value::from_bits(to, number as u128) };
            prop_assert_eq!(converted, expected);
        }
    }

    #[test]
    fn what_preserves_values_comes_back(from in numbers(), to in prop_oneof![integer_types(), (0..2u8).prop_map(|n| ValueType::Float { bits: 32 << n })]) {
        let is_nan = matches!(from.value_type(), ValueType::Float { .. }) && from.as_float().is_nan();
        if is_nan || !types::preserves_value(from.value_type(), to) {
            return Ok(());
        }
        let mut builder = Builder::new();
        let value = builder.original(from.value_type());
        let there = builder.convert(value, to).expect("numbers convert");
        let back = match (from.value_type(), to) {
            (ValueType::Bool, _) => builder.truth(there),
            (own, _) => builder.convert(there, own),
        }.expect("numbers convert");
        let formula = builder.finish(back, from.value_type()).expect("it has this type already");
        prop_assert_eq!(evaluate(&formula, from, &[], &[]), Ok(from));
    }

    #[test]
    fn unary_operators_promote(of in integers()) {
        let number = promote(of);
        let mut builder = Builder::new();
        let value = builder.original(of.value_type());
        let negated = builder.negate(value).expect("numbers have a negative");
        let formula = builder.finish(negated, negated.value_type).expect("it has this type already");
        agrees(evaluate(&formula, of, &[], &[]), reference(BinaryOperator::Subtract, I32(0), number))?;
        let mut builder = Builder::new();
        let value = builder.original(of.value_type());
        let inverted = builder.complement(value).expect("integers have a complement");
        let formula = builder.finish(inverted, inverted.value_type).expect("it has this type already");
        agrees(evaluate(&formula, of, &[], &[]), reference(BinaryOperator::BitXor, I32(-1), number))?;
        let mut builder = Builder::new();
        let value = builder.original(of.value_type());
        let not = builder.not(value).expect("everything has a truth");
        let formula = builder.finish(not, ValueType::Bool).expect("it has this type already");
        prop_assert_eq!(evaluate(&formula, of, &[], &[]), Ok(Value::truth(of.bits() == 0)));
    }
}

#[test]
fn what_c_does_not_have_is_not_built() {
    let double = ValueType::Float { bits: 64 };
    let refused = [
        (BinaryOperator::Remainder, double, types::INT),
        (BinaryOperator::BitAnd, types::INT, double),
        (BinaryOperator::ShiftLeft, types::INT, double),
        (BinaryOperator::Add, ValueType::Pointer, types::INT),
        (BinaryOperator::Less, ValueType::Pointer, types::INT),
    ];
    for (operator, left, right) in refused {
        let mut builder = Builder::new();
        let (left, right) = (builder.operand(0, left), builder.operand(1, right));
        assert_eq!(builder.binary(operator, left, right), None, "{operator:?}");
    }
}
