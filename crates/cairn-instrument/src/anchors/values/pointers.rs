//! Pointers that are moved, and the distance between two.

use super::Finder;
use crate::{
    anchors::subject::Expression,
    ir::{Arithmetic, CodeOperand, CodeType, Definition, Opcode},
};
use cairn_model::mutants::ValueType;

impl Finder<'_, '_> {
    pub(super) fn pointer_arithmetic(
        &mut self,
        expression: Expression,
        (left, left_type): (Expression, ValueType),
        (right, right_type): (Expression, ValueType),
    ) -> Option<Definition> {
        let place = self.subject.fact(expression).place;
        let operator = self.subject.fact(expression).operator.as_str();
        let (base, number) = match (operator, left_type, right_type) {
            ("+", ValueType::Pointer, ValueType::Int { .. } | ValueType::Bool) => (left, right),
            ("+", ValueType::Int { .. } | ValueType::Bool, ValueType::Pointer) => (right, left),
            ("-", ValueType::Pointer, ValueType::Int { .. } | ValueType::Bool) => (left, right),
            ("-", ValueType::Pointer, ValueType::Pointer) => return self.difference(expression, left, right),
            _ => return None,
        };
        let is_minus = operator == "-";
        self.take(expression, place, |finder, at| {
            matches!(finder.opcode(at), Opcode::ElementPointer { .. })
                && finder.subject.code.at(at).operands.len() == 2
                && finder.matches(finder.operand(at, 0), base)
                && finder.is_distance(finder.operand(at, 1), number, is_minus)
        })
    }

    /// Whether an operand is the number that a pointer is moved by, negated perhaps.
    pub(super) fn is_distance(&self, operand: CodeOperand, number: Expression, is_minus: bool) -> bool {
        if !is_minus {
            return self.matches(operand, number);
        }
        match operand {
            CodeOperand::Integer { bits, value } => {
                self.matches(CodeOperand::Integer { bits, value: value.wrapping_neg() }, number)
            }
            CodeOperand::Result(at) => {
                *self.opcode(at) == Opcode::Arithmetic(Arithmetic::Sub)
                    && self.operand(at, 0) == CodeOperand::Integer { bits: 64, value: 0 }
                    && self.matches(self.operand(at, 1), number)
            }
            _ => false,
        }
    }

    /// `p - q`: a subtraction of addresses, divided by the size of what they point to unless that is a byte.
    pub(super) fn difference(
        &mut self,
        expression: Expression,
        left: Expression,
        right: Expression,
    ) -> Option<Definition> {
        let place = self.subject.fact(expression).place;
        let is_subtraction = |finder: &Self, at: Definition| {
            *finder.opcode(at) == Opcode::Arithmetic(Arithmetic::Sub)
                && finder.matches_address(finder.operand(at, 0), left)
                && finder.matches_address(finder.operand(at, 1), right)
        };
        self.take(expression, place, |finder, at| match finder.opcode(at) {
            Opcode::Arithmetic(Arithmetic::SDiv) => {
                matches!(finder.operand(at, 0), CodeOperand::Result(from) if is_subtraction(finder, from))
            }
            Opcode::Arithmetic(Arithmetic::Sub) => {
                let is_divided = finder.subject.uses(at).iter().any(|(user, _)| {
                    *finder.opcode(*user) == Opcode::Arithmetic(Arithmetic::SDiv)
                        && finder.subject.at_place(place).contains(user)
                });
                !is_divided && is_subtraction(finder, at)
            }
            _ => false,
        })
    }

    /// Whether an operand is the address that a pointer holds, as a number.
    pub(super) fn matches_address(&self, operand: CodeOperand, pointer: Expression) -> bool {
        match operand {
            CodeOperand::Result(at) => {
                let code = self.subject.code.at(at);
                matches!(code.opcode, Opcode::Convert { .. })
                    && self.subject.operand_type(code.operands[0]) == Some(CodeType::Pointer)
                    && self.matches(code.operands[0], pointer)
            }
            _ => false,
        }
    }
}
