//! Constants, as operands of what uses them.

use super::{Builder, in_type};
use crate::{
    anchors::{At, subject::Expression, types, values},
    ir::{CodeOperand, Definition, Opcode},
};
use cairn_model::{
    facts::{ExpressionKind, UsedBy},
    mutants::ValueType,
};
use cairn_mutants::site::Role;

impl Builder<'_, '_> {
    /// The spot where a constant is used.
    pub(super) fn constant(&mut self, expression: Expression) {
        let Some(constant) = self.subject.fact(expression).constant else { return };
        let Some((at, number, used_as)) = self.constant_use(expression) else { return };
        let operand = self.code_operand(at, number as usize);
        if !values::is_constant(operand, constant) {
            return;
        }
        let own = types::scalar(&self.subject.fact(expression).value_type);
        let is_signed = match used_as.or(own) {
            Some(ValueType::Int { is_signed, .. }) => is_signed,
            _ => true,
        };
        let (value_type, role) = match operand {
            CodeOperand::Integer { bits: 1, value } => {
                (ValueType::Bool, Role::Constant { value: i64::from(value != 0), float: None })
            }
            CodeOperand::Integer { bits, value } => {
                let Ok(bits) = u8::try_from(bits) else { return };
                let value_type = ValueType::Int { bits, is_signed };
                let Some(value) = in_type(value, value_type) else { return };
                (value_type, Role::Constant { value, float: None })
            }
            CodeOperand::Float { bits, value } => {
                (ValueType::Float { bits: bits as u8 }, Role::Constant { value: 0, float: Some(value) })
            }
            _ => return,
        };
        self.push(expression, role, value_type, At::Operand(at, number), Vec::new());
    }

    /// The instruction and operand that use a constant, and the type it is converted to, if that is known.
    fn constant_use(&self, expression: Expression) -> Option<(Definition, u32, Option<ValueType>)> {
        let subject = self.subject;
        let fact = subject.fact(expression);
        match fact.used_by {
            UsedBy::Return(_) => {
                let result = subject.function().result.as_ref().and_then(types::scalar);
                return Some((self.values.stored[expression as usize]?, 0, result));
            }
            UsedBy::Variable(number) => {
                let variable = &subject.function().variables[number as usize];
                let value_type = types::scalar(&variable.value_type).filter(|own| *own != ValueType::Bool)?;
                return Some((self.values.stored[expression as usize]?, 0, Some(value_type)));
            }
            UsedBy::Other => {}
        }
        let parent = fact.parent?;
        let position = subject.children(parent).iter().position(|child| *child == expression)?;
        match subject.fact(parent).kind {
            ExpressionKind::Binary | ExpressionKind::CompoundAssign => {
                self.constant_operand(parent, expression, position)
            }
            ExpressionKind::Assign => {
                // A byte that holds a truth value must stay one.
                let left = *subject.children(parent).first()?;
                let value_type =
                    types::scalar(&subject.fact(left).value_type).filter(|own| *own != ValueType::Bool)?;
                Some((self.values.stored[parent as usize]?, 0, Some(value_type)))
            }
            ExpressionKind::Call => {
                let at = self.values.instruction[parent as usize]?;
                let n_arguments = subject.children(parent).len().checked_sub(1)?;
                let number = position.checked_sub(1)?;
                // Structures may be handed over in several parts or none.
                (subject.code.at(at).operands.len() == n_arguments).then_some((at, number as u32, None))
            }
            ExpressionKind::Index => match self.values.address[parent as usize]? {
                CodeOperand::Result(at)
                    if matches!(subject.code.at(at).opcode, Opcode::ElementPointer { .. }) =>
                {
                    Some((at, subject.code.at(at).operands.len() as u32 - 1, None))
                }
                _ => None,
            },
            ExpressionKind::Conditional => {
                let at = self.values.instruction[parent as usize]?;
                let is_arm = subject.code.at(at).opcode == Opcode::Select && position > 0;
                is_arm.then_some((at, position as u32, types::scalar(&subject.fact(parent).value_type)))
            }
            _ => None,
        }
    }

    fn constant_operand(
        &self,
        parent: Expression,
        expression: Expression,
        position: usize,
    ) -> Option<(Definition, u32, Option<ValueType>)> {
        let subject = self.subject;
        let at = self.values.instruction[parent as usize]?;
        let (left, right) = subject.operands(parent)?;
        let own = subject.scalar(expression);
        match subject.code.at(at).opcode {
            Opcode::ElementPointer { .. } => {
                let is_minus = subject.fact(parent).operator.starts_with('-');
                (!is_minus).then_some((at, 1, own))
            }
            _ if subject.fact(parent).operator.contains("<<")
                || subject.fact(parent).operator.contains(">>") =>
            {
                Some((at, position as u32, own))
            }
            _ => {
                let common = types::common(subject.scalar(left)?, subject.scalar(right)?);
                Some((at, position as u32, common))
            }
        }
    }
}
