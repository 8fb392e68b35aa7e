//! Whether an operand in the code is what an expression was found to be.

use super::Finder;
use crate::{
    anchors::subject::Expression,
    ir::{CodeOperand, Definition, Opcode, Predicate},
};
use cairn_model::{
    facts::{ConstantValue, ExpressionKind, TypeClass},
    mutants::ValueType,
};

impl Finder<'_, '_> {
    /// Whether an operand in the code is the value of an expression, converted perhaps.
    pub(super) fn matches(&self, operand: CodeOperand, expression: Expression) -> bool {
        let subject = self.subject;
        let fact = subject.fact(expression);
        if let Some(constant) = fact.constant {
            return is_constant(operand, constant);
        }
        if fact.kind == ExpressionKind::String {
            return self.is_text(operand);
        }
        if fact.is_array {
            return self.address[expression as usize]
                .is_some_and(|address| self.is_same_pointer(operand, address));
        }
        if self.is_null(expression) {
            return operand == CodeOperand::Null;
        }
        if self.value[expression as usize].is_none()
            && let Some(source) = self.handed_on(expression)
        {
            return self.matches(operand, source);
        }
        let operand = subject.unconverted(operand);
        match (self.value[expression as usize], operand) {
            (Some(value), _) if value == operand => true,
            // C++ reads what was assigned once more.
            (Some(_), CodeOperand::Result(at)) => self.reads_again(at, expression),
            (Some(_), _) => false,
            (None, CodeOperand::Result(at)) => {
                fact.macro_name.is_none()
                    && !self.given_up.contains(&expression)
                    && subject.stands_in(at, expression)
                    && !self.is_leaf(expression)
            }
            (None, _) => false,
        }
    }

    /// The operand whose value an expression has, conversions aside.
    pub(super) fn handed_on(&self, expression: Expression) -> Option<Expression> {
        let fact = self.subject.fact(expression);
        match fact.kind {
            ExpressionKind::Assign if fact.value_type.class != TypeClass::Bool => {
                self.subject.operands(expression).map(|(_, right)| right)
            }
            ExpressionKind::Cast if fact.value_type.class != TypeClass::Bool => {
                self.subject.only_child(expression)
            }
            ExpressionKind::Binary if fact.operator == "," => {
                self.subject.operands(expression).map(|(_, right)| right)
            }
            _ => None,
        }
    }

    /// Whether it is the address of a string.
    pub(super) fn is_text(&self, operand: CodeOperand) -> bool {
        let CodeOperand::Global { global, offset: 0 } = operand else { return false };
        let global = &self.subject.module.globals[global as usize];
        global.name.is_none() && !global.is_external
    }

    /// Whether it should have been found if it were there.
    pub(super) fn is_leaf(&self, expression: Expression) -> bool {
        self.subject.children(expression).is_empty()
    }

    pub(super) fn reads_again(&self, at: Definition, expression: Expression) -> bool {
        use ExpressionKind as Kind;
        let fact = self.subject.fact(expression);
        let changes = matches!(fact.kind, Kind::Assign | Kind::CompoundAssign | Kind::IncrementDecrement);
        let target = self.subject.children(expression).first().filter(|_| changes);
        matches!(self.opcode(at), Opcode::Load { .. })
            && target.is_some_and(|target| self.address[*target as usize] == Some(self.operand(at, 0)))
            && self.subject.stands_in(at, expression)
    }

    /// Whether it is a null pointer written as a constant.
    pub(super) fn is_null(&self, expression: Expression) -> bool {
        let fact = self.subject.fact(expression);
        let is_zero = |child: Expression| {
            let fact = self.subject.fact(child);
            fact.kind == ExpressionKind::Integer
                && fact.constant.is_none_or(|value| value == ConstantValue::Integer(0))
                || self.is_null(child)
        };
        fact.value_type.class == TypeClass::Pointer
            && fact.kind == ExpressionKind::Cast
            && self.subject.only_child(expression).is_some_and(is_zero)
    }

    /// Whether an operand is the truth of an expression: the expression itself, or its comparison with 0.
    pub(super) fn is_truth(&self, operand: CodeOperand, expression: Expression) -> bool {
        if self.matches(operand, expression) {
            return true;
        }
        let CodeOperand::Result(at) = operand else { return false };
        let is_zero = match self.operand(at, 1) {
            CodeOperand::Integer { value, .. } => value == 0,
            CodeOperand::Float { value, .. } => value == 0,
            CodeOperand::Null => true,
            _ => false,
        };
        is_zero
            && matches!(self.opcode(at), Opcode::Compare(Predicate::Ne | Predicate::Une))
            && self.matches(self.operand(at, 0), expression)
    }

    /// Whether an operand is the value of an expression converted to a type, which may be `bool`.
    pub(super) fn is_truth_or_value(
        &self,
        operand: CodeOperand,
        expression: Expression,
        value_type: ValueType,
    ) -> bool {
        match value_type {
            ValueType::Bool => self.is_truth(self.subject.unconverted(operand), expression),
            _ => self.matches(operand, expression),
        }
    }
}

/// Whether an operand is a constant with this value, in whatever type.
pub fn is_constant(operand: CodeOperand, constant: ConstantValue) -> bool {
    match (operand, constant) {
        (CodeOperand::Integer { bits, value }, ConstantValue::Integer(wanted)) => {
            let unused = 64 - bits.clamp(1, 64);
            // Of a truth value only whether it is 0 counts.
            if bits == 1 { (value != 0) == (wanted != 0) } else { value << unused == wanted << unused }
        }
        (CodeOperand::Float { value, .. }, ConstantValue::Integer(wanted)) => {
            f64::from_bits(value) == wanted as f64
        }
        (CodeOperand::Float { bits: 64, value }, ConstantValue::Float(wanted)) => value == wanted,
        (CodeOperand::Float { value, .. }, ConstantValue::Float(wanted)) => {
            value == f64::from(f64::from_bits(wanted) as f32).to_bits()
        }
        (CodeOperand::Integer { value, .. }, ConstantValue::Float(wanted)) => {
            value == f64::from_bits(wanted) as i64
        }
        (CodeOperand::Null, ConstantValue::Integer(0)) => true,
        _ => false,
    }
}
