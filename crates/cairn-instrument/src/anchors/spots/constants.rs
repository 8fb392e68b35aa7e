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
        let mut operand = self.code_operand(at, number as usize);
        let is_negated = self.is_subtracted_from_pointer(expression, at);
        if let (true, CodeOperand::Integer { bits, value }) = (is_negated, operand) {
            operand = CodeOperand::Integer { bits, value: value.wrapping_neg() };
        }
        if !values::is_constant(operand, constant) {
            return;
        }
        let own = types::scalar(&self.subject.fact(expression).value_type);
        let is_signed = match used_as.or(own) {
            Some(ValueType::Int { is_signed, .. }) => is_signed,
            _ => true,
        };
        let (value_type, role) = match operand {
            // A truth value in memory is a byte.
            CodeOperand::Integer { bits: 8, value } if used_as == Some(ValueType::Bool) => {
                (ValueType::Bool, Role::Constant { value: i64::from(value != 0), float: None })
            }
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
        let at = if is_negated {
            At::Negated(at, number)
        } else {
            let Some(at) = self.all_uses(expression, (at, number), operand) else { return };
            at
        };
        self.push(expression, role, value_type, at, Vec::new());
    }

    /// Where else a constant is used as the value of the assignment it is assigned by: `a = b = 0` stores it twice.
    /// `None` if that cannot be told.
    fn all_uses(&self, expression: Expression, first: (Definition, u32), operand: CodeOperand) -> Option<At> {
        let subject = self.subject;
        let assignment = |of: Expression| {
            subject.fact(of).parent.filter(|parent| subject.fact(*parent).kind == ExpressionKind::Assign)
        };
        let Some(mut assigned) = assignment(expression) else { return Some(At::Operand(first.0, first.1)) };
        let mut stores = vec![first];
        while subject.fact(assigned).parent.is_some() {
            assigned = assignment(assigned)?;
            let store = self.values.stored[assigned as usize]?;
            if self.code_operand(store, 0) == operand {
                stores.push((store, 0));
            } else if !self.reads_again(store) {
                return None;
            }
        }
        if self.is_used(assigned) {
            return None;
        }
        Some(if stores.len() == 1 { At::Operand(first.0, first.1) } else { At::Operands(stores) })
    }

    /// Whether a store writes what was read from memory, as C++ does with what was assigned.
    fn reads_again(&self, store: Definition) -> bool {
        let CodeOperand::Result(at) = self.subject.unconverted(self.code_operand(store, 0)) else {
            return false;
        };
        matches!(self.subject.code.at(at).opcode, Opcode::Load { .. })
    }

    /// Whether it is the number of `p - 1` or `p -= 1`, which moves the pointer by -1.
    fn is_subtracted_from_pointer(&self, expression: Expression, at: Definition) -> bool {
        let Some(parent) = self.subject.fact(expression).parent else { return false };
        matches!(self.subject.code.at(at).opcode, Opcode::ElementPointer { .. })
            && self.subject.fact(parent).kind != ExpressionKind::Index
            && self.subject.fact(parent).operator.starts_with('-')
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
                let value_type = types::scalar(&variable.value_type)?;
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
                let left = *subject.children(parent).first()?;
                let value_type = types::scalar(&subject.fact(left).value_type)?;
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
                let value_type = types::scalar(&subject.fact(parent).value_type);
                let arm = position.checked_sub(1)? as u32;
                match subject.code.at(at).opcode {
                    Opcode::Select => Some((at, arm + 1, value_type)),
                    Opcode::Phi(_) => Some((at, arm, value_type)),
                    _ => None,
                }
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
            Opcode::ElementPointer { .. } => Some((at, 1, own)),
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
