//! What a formula computes.

use super::value::{Value, width};
use cairn_model::mutants::{
    BinaryOperation, Comparison, Conversion, Formula, Node, NodeIndex, UnaryOperation, ValueType,
};

/// A variable that formulas may use.
#[derive(Clone, Copy, Debug)]
pub struct VariableValue {
    /// What is in it; `None` for arrays.
    pub value: Option<Value>,
    /// Where it is.
    pub address: u64,
}

/// Why a formula has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trap {
    /// The machine raises SIGFPE.
    #[error("a division by zero, or of the least number by -1")]
    Division,
    /// The formula does not fit what it is evaluated with; its first wrong node.
    #[error("node {0} of the formula does not fit the values")]
    IllTyped(usize),
}

/// The value of `formula` where the patch has the value `original`, computed from `operands`.
///
/// Nodes know widths and not signs: whether the result counts as signed is up to the type the patch has.
pub fn evaluate(
    formula: &Formula,
    original: Value,
    operands: &[Value],
    variables: &[VariableValue],
) -> Result<Value, Trap> {
    let mut values: Vec<Value> = Vec::with_capacity(formula.nodes.len());
    for (index, node) in formula.nodes.iter().enumerate() {
        let computed = compute(node, &values, original, operands, variables);
        values.push(computed.ok_or(Trap::IllTyped(index))??);
    }
    values.pop().ok_or(Trap::IllTyped(0))
}

/// `None` for ill-typed nodes.
fn compute(
    node: &Node,
    values: &[Value],
    original: Value,
    operands: &[Value],
    variables: &[VariableValue],
) -> Option<Result<Value, Trap>> {
    let at = |index: NodeIndex| values.get(usize::from(index)).copied();
    let value = match *node {
        Node::Original => original,
        Node::Operand(number) => *operands.get(usize::from(number))?,
        Node::Integer(value_type, value) => Value::integer(value_type, value.into()),
        Node::Float(value_type @ ValueType::Float { .. }, bits) => {
            Value::float(value_type, f64::from_bits(bits))
        }
        Node::Float(..) => return None,
        Node::Variable(number) => variables.get(number as usize)?.value?,
        Node::AddressOf(number) => {
            Value::from_bits(ValueType::Pointer, variables.get(number as usize)?.address.into())
        }
        Node::Offset(pointer, distance) => {
            let pointer = at(pointer).filter(|pointer| pointer.value_type() == ValueType::Pointer)?;
            Value::integer(ValueType::Pointer, pointer.bits() as i128 + i128::from(distance))
        }
        Node::Unary(operation, of) => unary(operation, at(of)?)?,
        Node::Binary(operation, left, right) => return binary(operation, at(left)?, at(right)?),
        Node::Compare(comparison, left, right) => compare(comparison, at(left)?, at(right)?)?,
        Node::Convert(conversion, to, from) => convert(conversion, to, at(from)?)?,
    };
    Some(Ok(value))
}

fn unary(operation: UnaryOperation, of: Value) -> Option<Value> {
    let value_type = of.value_type();
    match (operation, value_type) {
        (UnaryOperation::Negate, ValueType::Int { .. }) => {
            Some(Value::integer(value_type, of.as_signed().wrapping_neg()))
        }
        (UnaryOperation::Negate, ValueType::Float { .. }) => Some(Value::float(value_type, -of.as_float())),
        (UnaryOperation::Complement, ValueType::Int { .. } | ValueType::Bool) => {
            Some(Value::from_bits(value_type, !of.bits()))
        }
        (UnaryOperation::Absolute, ValueType::Int { .. }) => {
            Some(Value::integer(value_type, of.as_signed().wrapping_abs()))
        }
        _ => None,
    }
}

fn binary(operation: BinaryOperation, left: Value, right: Value) -> Option<Result<Value, Trap>> {
    if !are_alike(left, right) {
        return None;
    }
    match left.value_type() {
        ValueType::Float { .. } => float_binary(operation, left, right).map(Ok),
        ValueType::Pointer => None,
        ValueType::Bool | ValueType::Int { .. } => integer_binary(operation, left, right),
    }
}

fn float_binary(operation: BinaryOperation, left: Value, right: Value) -> Option<Value> {
    // Computing in double and rounding once gives the nearest float for these four.
    let (a, b) = (left.as_float(), right.as_float());
    let result = match operation {
        BinaryOperation::Add => a + b,
        BinaryOperation::Subtract => a - b,
        BinaryOperation::Multiply => a * b,
        BinaryOperation::FloatDivide => a / b,
        _ => return None,
    };
    Some(Value::float(left.value_type(), result))
}

fn integer_binary(operation: BinaryOperation, left: Value, right: Value) -> Option<Result<Value, Trap>> {
    use BinaryOperation::*;
    let value_type = left.value_type();
    let amount = (right.bits() % u128::from(width(value_type))) as u32;
    let (a, b) = (left.bits(), right.bits());
    let (signed_a, signed_b) = (left.as_signed(), right.as_signed());
    let least = Value::integer(value_type, 1 << (width(value_type) - 1)).as_signed();
    let traps = match operation {
        SignedDivide | SignedRemainder => b == 0 || (signed_a == least && signed_b == -1),
        UnsignedDivide | UnsignedRemainder => b == 0,
        _ => false,
    };
    if traps {
        return Some(Err(Trap::Division));
    }
    let bits = match operation {
        Add => a.wrapping_add(b),
        Subtract => a.wrapping_sub(b),
        Multiply => a.wrapping_mul(b),
        SignedDivide => (signed_a / signed_b) as u128,
        UnsignedDivide => a / b,
        SignedRemainder => (signed_a % signed_b) as u128,
        UnsignedRemainder => a % b,
        FloatDivide => return None,
        ShiftLeft => a << amount,
        ShiftRightUnsigned => a >> amount,
        ShiftRightSigned => (signed_a >> amount) as u128,
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
    };
    Some(Ok(Value::from_bits(value_type, bits)))
}

fn compare(comparison: Comparison, left: Value, right: Value) -> Option<Value> {
    use Comparison::*;
    if !are_alike(left, right) {
        return None;
    }
    let is_float = matches!(left.value_type(), ValueType::Float { .. });
    let (a, b) = (left.as_float(), right.as_float());
    Some(Value::truth(match comparison {
        Equal if is_float => a == b,
        NotEqual if is_float => a != b,
        FloatLess if is_float => a < b,
        FloatLessOrEqual if is_float => a <= b,
        _ if is_float => return None,
        Equal => left.bits() == right.bits(),
        NotEqual => left.bits() != right.bits(),
        SignedLess => left.as_signed() < right.as_signed(),
        SignedLessOrEqual => left.as_signed() <= right.as_signed(),
        UnsignedLess => left.bits() < right.bits(),
        UnsignedLessOrEqual => left.bits() <= right.bits(),
        FloatLess | FloatLessOrEqual => return None,
    }))
}

fn convert(conversion: Conversion, to: ValueType, from: Value) -> Option<Value> {
    use ValueType::*;
    let (from_width, to_width) = (width(from.value_type()), width(to));
    Some(match (conversion, from.value_type(), to) {
        (Conversion::Truncate, Int { .. }, Int { .. } | Bool) if from_width > to_width => {
            Value::from_bits(to, from.bits())
        }
        (Conversion::ZeroExtend, Bool | Int { .. }, Int { .. }) if from_width < to_width => {
            Value::from_bits(to, from.bits())
        }
        (Conversion::SignExtend, Int { .. }, Int { .. }) if from_width < to_width => {
            Value::integer(to, from.as_signed())
        }
        (Conversion::SignedToFloat, Int { .. }, Float { bits }) => {
            rounded(bits, from.as_signed() as f32, from.as_signed() as f64)
        }
        (Conversion::UnsignedToFloat, Bool | Int { .. }, Float { bits }) => {
            rounded(bits, from.bits() as f32, from.bits() as f64)
        }
        (Conversion::FloatToSigned, Float { .. }, Int { .. }) => to_signed(from.as_float(), to),
        (Conversion::FloatToUnsigned, Float { .. }, Int { .. }) => to_unsigned(from.as_float(), to),
        (Conversion::FloatToFloat, Float { .. }, Float { .. }) => Value::float(to, from.as_float()),
        (Conversion::PointerToInteger, Pointer, Int { bits: 64, .. }) => Value::from_bits(to, from.bits()),
        _ => return None,
    })
}

/// Going through a double would round twice.
fn rounded(bits: u8, single: f32, double: f64) -> Value {
    if bits == 32 {
        Value::float(ValueType::Float { bits }, single.into())
    } else {
        Value::float(ValueType::Float { bits }, double)
    }
}

/// What does not fit becomes the least number.
fn to_signed(value: f64, to: ValueType) -> Value {
    let limit = 2f64.powi(width(to) as i32 - 1);
    let whole = value.trunc();
    if whole >= -limit && whole < limit {
        return Value::integer(to, whole as i128);
    }
    Value::integer(to, 1 << (width(to) - 1))
}

/// Small numbers convert as signed ones do; large ones, less the top bit, which is then put back.
fn to_unsigned(value: f64, to: ValueType) -> Value {
    let top = 2f64.powi(width(to) as i32 - 1);
    let small = to_signed(value, to);
    if value < top {
        return small;
    }
    let large = to_signed(value - top, to);
    Value::from_bits(to, small.bits() | large.bits())
}

/// Whether operations take both: signedness is only C's.
fn are_alike(left: Value, right: Value) -> bool {
    match (left.value_type(), right.value_type()) {
        (ValueType::Int { bits: left, .. }, ValueType::Int { bits: right, .. }) => left == right,
        (left, right) => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLE: ValueType = ValueType::Float { bits: 64 };
    const LONG: ValueType = ValueType::Int { bits: 64, is_signed: true };
    const UNSIGNED_LONG: ValueType = ValueType::Int { bits: 64, is_signed: false };

    fn converted(conversion: Conversion, to: ValueType, from: Value) -> Result<Value, Trap> {
        let formula = Formula { nodes: vec![Node::Original, Node::Convert(conversion, to, 0)] };
        evaluate(&formula, from, &[], &[])
    }

    #[test]
    fn floats_that_do_not_fit_become_what_the_machine_makes_of_them() {
        let signed = |value| {
            converted(Conversion::FloatToSigned, LONG, Value::float(DOUBLE, value)).unwrap().as_signed()
        };
        assert_eq!(signed(-2.9), -2);
        assert_eq!(signed(1e300), i64::MIN.into());
        assert_eq!(signed(f64::NAN), i64::MIN.into());
        let unsigned = |value| {
            converted(Conversion::FloatToUnsigned, UNSIGNED_LONG, Value::float(DOUBLE, value)).unwrap().bits()
        };
        assert_eq!(unsigned(1e19), 10_000_000_000_000_000_000);
        assert_eq!(unsigned(-1.0), u64::MAX.into());
        assert_eq!(unsigned(1e300), 1 << 63);
        assert_eq!(unsigned(f64::NAN), 1 << 63);
    }

    #[test]
    fn ill_typed_formulas_have_no_value() {
        let one = Value::integer(LONG, 1);
        for nodes in [
            vec![],
            vec![Node::Operand(0)],
            vec![Node::Original, Node::Unary(UnaryOperation::Negate, 7)],
            vec![Node::Original, Node::Offset(0, 1)],
            vec![Node::Original, Node::Convert(Conversion::Truncate, LONG, 0)],
            vec![Node::Original, Node::Compare(Comparison::FloatLess, 0, 0)],
        ] {
            let outcome = evaluate(&Formula { nodes: nodes.clone() }, one, &[], &[]);
            assert!(matches!(outcome, Err(Trap::IllTyped(_))), "{nodes:?} gave {outcome:?}");
        }
    }

    #[test]
    fn addresses_move_by_bytes() {
        let formula = Formula { nodes: vec![Node::AddressOf(0), Node::Offset(0, -8)] };
        let variables = [VariableValue { value: None, address: 0x1000 }];
        let pointer = Value::from_bits(ValueType::Pointer, 0);
        assert_eq!(evaluate(&formula, pointer, &[], &variables).unwrap().bits(), 0xff8);
    }
}
