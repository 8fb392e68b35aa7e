//! Formulas as C would compute them.

use super::{
    operators::{BinaryOperator, Family},
    types::{self, INT},
};
use cairn_model::mutants::{
    BinaryOperation, Comparison, Conversion, Formula, Node, NodeIndex, UnaryOperation, ValueType,
};

/// A node of a formula that is being built, with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expression {
    node: NodeIndex,
    /// Its type in C.
    pub value_type: ValueType,
}

/// Builds one formula.
#[derive(Debug, Default)]
pub struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    /// An empty formula.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value without the mutant.
    pub fn original(&mut self, value_type: ValueType) -> Expression {
        self.push(Node::Original, value_type)
    }

    /// An operand of the spot.
    pub fn operand(&mut self, number: u8, value_type: ValueType) -> Expression {
        self.push(Node::Operand(number), value_type)
    }

    /// An integer or truth value.
    pub fn integer(&mut self, value_type: ValueType, value: i64) -> Expression {
        self.push(Node::Integer(value_type, value), value_type)
    }

    /// A number of any arithmetic type.
    pub fn number(&mut self, value_type: ValueType, value: i64) -> Expression {
        match value_type {
            ValueType::Float { .. } => self.float(value_type, value as f64),
            _ => self.integer(value_type, value),
        }
    }

    /// A floating-point number.
    pub fn float(&mut self, value_type: ValueType, value: f64) -> Expression {
        self.push(Node::Float(value_type, value.to_bits()), value_type)
    }

    /// The value of a variable of the function.
    pub fn variable(&mut self, number: u32, value_type: ValueType) -> Expression {
        self.push(Node::Variable(number), value_type)
    }

    /// The address of a variable of the function.
    pub fn address_of(&mut self, number: u32) -> Expression {
        self.push(Node::AddressOf(number), ValueType::Pointer)
    }

    /// A pointer moved by some bytes.
    pub fn offset(&mut self, pointer: Expression, distance: i64) -> Expression {
        self.push(Node::Offset(pointer.node, distance), ValueType::Pointer)
    }

    /// `left operator right`; `None` where C has no such operation.
    ///
    /// Both sides are there already, so `&&` and `||` only look at their truth.
    pub fn binary(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
    ) -> Option<Expression> {
        match operator.family() {
            Family::Arithmetic => self.arithmetic(operator, left, right),
            Family::Bitwise => self.bitwise(operator, left, right),
            Family::Shift => self.shift(operator, left, right),
            Family::Relational => self.compare(operator, left, right),
            Family::Logical => self.logical(operator, left, right),
        }
    }

    fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
    ) -> Option<Expression> {
        use BinaryOperation as Operation;
        let value_type = types::common(left.value_type, right.value_type)?;
        let is_float = matches!(value_type, ValueType::Float { .. });
        let is_signed = is_signed(value_type);
        let operation = match operator {
            BinaryOperator::Add => Operation::Add,
            BinaryOperator::Subtract => Operation::Subtract,
            BinaryOperator::Multiply => Operation::Multiply,
            BinaryOperator::Divide if is_float => Operation::FloatDivide,
            BinaryOperator::Divide if is_signed => Operation::SignedDivide,
            BinaryOperator::Divide => Operation::UnsignedDivide,
            BinaryOperator::Remainder if is_float => return None,
            BinaryOperator::Remainder if is_signed => Operation::SignedRemainder,
            _ => Operation::UnsignedRemainder,
        };
        self.combine(operation, value_type, left, right)
    }

    fn bitwise(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
    ) -> Option<Expression> {
        let value_type =
            types::common(left.value_type, right.value_type).filter(|common| types::is_integer(*common))?;
        let operation = match operator {
            BinaryOperator::BitAnd => BinaryOperation::And,
            BinaryOperator::BitOr => BinaryOperation::Or,
            _ => BinaryOperation::Xor,
        };
        self.combine(operation, value_type, left, right)
    }

    /// The type of a shift is the promoted type of its left side alone.
    fn shift(&mut self, operator: BinaryOperator, left: Expression, right: Expression) -> Option<Expression> {
        if !types::is_integer(left.value_type) || !types::is_integer(right.value_type) {
            return None;
        }
        let value_type = types::promoted(left.value_type);
        let operation = match operator {
            BinaryOperator::ShiftLeft => BinaryOperation::ShiftLeft,
            _ if is_signed(value_type) => BinaryOperation::ShiftRightSigned,
            _ => BinaryOperation::ShiftRightUnsigned,
        };
        self.combine(operation, value_type, left, right)
    }

    fn compare(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
    ) -> Option<Expression> {
        let value_type = match (left.value_type, right.value_type) {
            (ValueType::Pointer, ValueType::Pointer) => ValueType::Pointer,
            (left, right) => types::common(left, right)?,
        };
        let (less, less_or_equal) = match value_type {
            ValueType::Float { .. } => (Comparison::FloatLess, Comparison::FloatLessOrEqual),
            _ if is_signed(value_type) => (Comparison::SignedLess, Comparison::SignedLessOrEqual),
            _ => (Comparison::UnsignedLess, Comparison::UnsignedLessOrEqual),
        };
        let (left, right) = (self.convert(left, value_type)?, self.convert(right, value_type)?);
        let (comparison, left, right) = match operator {
            BinaryOperator::Less => (less, left, right),
            BinaryOperator::LessOrEqual => (less_or_equal, left, right),
            BinaryOperator::Greater => (less, right, left),
            BinaryOperator::GreaterOrEqual => (less_or_equal, right, left),
            BinaryOperator::Equal => (Comparison::Equal, left, right),
            _ => (Comparison::NotEqual, left, right),
        };
        Some(self.push(Node::Compare(comparison, left.node, right.node), ValueType::Bool))
    }

    fn logical(
        &mut self,
        operator: BinaryOperator,
        left: Expression,
        right: Expression,
    ) -> Option<Expression> {
        let operation = match operator {
            BinaryOperator::LogicalAnd => BinaryOperation::And,
            _ => BinaryOperation::Or,
        };
        let (left, right) = (self.truth(left)?, self.truth(right)?);
        Some(self.push(Node::Binary(operation, left.node, right.node), ValueType::Bool))
    }

    fn combine(
        &mut self,
        operation: BinaryOperation,
        value_type: ValueType,
        left: Expression,
        right: Expression,
    ) -> Option<Expression> {
        let (left, right) = (self.convert(left, value_type)?, self.convert(right, value_type)?);
        Some(self.push(Node::Binary(operation, left.node, right.node), value_type))
    }

    /// `!of`.
    pub fn not(&mut self, of: Expression) -> Option<Expression> {
        let truth = self.truth(of)?;
        Some(self.push(Node::Unary(UnaryOperation::Complement, truth.node), ValueType::Bool))
    }

    /// `-of`.
    pub fn negate(&mut self, of: Expression) -> Option<Expression> {
        let of = self.promote(of).filter(|of| types::is_arithmetic(of.value_type))?;
        Some(self.push(Node::Unary(UnaryOperation::Negate, of.node), of.value_type))
    }

    /// `~of`.
    pub fn complement(&mut self, of: Expression) -> Option<Expression> {
        let of = self.promote(of).filter(|of| types::is_integer(of.value_type))?;
        Some(self.push(Node::Unary(UnaryOperation::Complement, of.node), of.value_type))
    }

    /// `|of|`, for signed integers.
    pub fn absolute(&mut self, of: Expression) -> Option<Expression> {
        let of = self.promote(of).filter(|of| is_signed(of.value_type))?;
        Some(self.push(Node::Unary(UnaryOperation::Absolute, of.node), of.value_type))
    }

    /// After integer promotion.
    pub fn promote(&mut self, of: Expression) -> Option<Expression> {
        self.convert(of, types::promoted(of.value_type))
    }

    /// Whether it is not 0.
    pub fn truth(&mut self, of: Expression) -> Option<Expression> {
        let zero = match of.value_type {
            ValueType::Bool => return Some(of),
            ValueType::Pointer => {
                let address = ValueType::Int { bits: 64, is_signed: false };
                let address = self.convert(of, address)?;
                return self.truth(address);
            }
            value_type => self.number(value_type, 0),
        };
        Some(self.push(Node::Compare(Comparison::NotEqual, of.node, zero.node), ValueType::Bool))
    }

    /// As C converts; `None` for numbers to pointers.
    pub fn convert(&mut self, of: Expression, to: ValueType) -> Option<Expression> {
        use Conversion::*;
        use ValueType::*;
        if of.value_type == to {
            return Some(of);
        }
        let step = |conversion| Node::Convert(conversion, to, of.node);
        let node = match (of.value_type, to) {
            (_, Bool) => return self.truth(of),
            (_, Pointer) => return None,
            (Pointer, Int { bits: 64, .. }) => step(PointerToInteger),
            (Pointer, Int { .. }) => {
                let address = self.convert(of, Int { bits: 64, is_signed: false })?;
                return self.convert(address, to);
            }
            (Pointer, Float { .. }) => return None,
            (Bool, Int { .. }) => step(ZeroExtend),
            (Bool, Float { .. }) => {
                let number = self.convert(of, INT)?;
                return self.convert(number, to);
            }
            // Only C sees a difference.
            (Int { bits: from, .. }, Int { bits, .. }) if from == bits => {
                return Some(Expression { value_type: to, ..of });
            }
            (Int { bits: from, .. }, Int { bits, .. }) if from > bits => step(Truncate),
            (Int { is_signed: true, .. }, Int { .. }) => step(SignExtend),
            (Int { is_signed: false, .. }, Int { .. }) => step(ZeroExtend),
            (Int { is_signed: true, .. }, Float { .. }) => step(SignedToFloat),
            (Int { is_signed: false, .. }, Float { .. }) => step(UnsignedToFloat),
            // The machine converts to 32 or 64 bits with a sign and takes the low ones.
            (Float { .. }, Int { bits: 8 | 16, .. }) => return self.convert_through(of, INT, to),
            (Float { .. }, Int { bits: 32, is_signed: false }) => {
                return self.convert_through(of, Int { bits: 64, is_signed: true }, to);
            }
            (Float { .. }, Int { is_signed: true, .. }) => step(FloatToSigned),
            (Float { .. }, Int { is_signed: false, .. }) => step(FloatToUnsigned),
            (Float { .. }, Float { .. }) => step(FloatToFloat),
        };
        Some(self.push(node, to))
    }

    fn convert_through(&mut self, of: Expression, through: ValueType, to: ValueType) -> Option<Expression> {
        let wide = self.convert(of, through)?;
        self.convert(wide, to)
    }

    /// The formula whose value is `result`, converted to `value_type`.
    pub fn finish(mut self, result: Expression, value_type: ValueType) -> Option<Formula> {
        let result = self.convert(result, value_type)?;
        // The last node is the result, and what came after it cannot be part of it.
        self.nodes.truncate(usize::from(result.node) + 1);
        Some(Formula { nodes: self.nodes })
    }

    fn push(&mut self, node: Node, value_type: ValueType) -> Expression {
        self.nodes.push(node);
        Expression { node: (self.nodes.len() - 1) as NodeIndex, value_type }
    }
}

fn is_signed(value_type: ValueType) -> bool {
    matches!(value_type, ValueType::Int { is_signed: true, .. })
}
