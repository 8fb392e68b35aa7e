//! Addresses that are read and written, and values that are stored and returned.

use super::Builder;
use crate::{
    anchors::{
        At, OperandAt,
        subject::{Expression, Usage},
        types,
    },
    ir::{CodeOperand, CodeType, Definition, Opcode},
};
use cairn_model::{
    facts::{ExpressionKind, Named, TypeClass, UsedBy, VariableShape},
    mutants::ValueType,
};
use cairn_mutants::site::{Operand, Role, Sibling};

impl Builder<'_, '_> {
    /// Spots where the address of an expression is used.
    pub(super) fn addresses(&mut self, expression: Expression) {
        match self.subject.fact(expression).kind {
            ExpressionKind::Reference => {
                self.assigned(expression);
                self.array_base(expression);
            }
            ExpressionKind::Member => self.member(expression),
            _ => {}
        }
    }

    fn assigned(&mut self, expression: Expression) {
        let subject = self.subject;
        let Some(variable) = subject.variable(expression) else { return };
        if variable.shape != VariableShape::Scalar || subject.usage(expression) != Usage::Assigned {
            return;
        }
        let Some(parent) = subject.fact(expression).parent else { return };
        // One value may be stored in several places at once, which look alike: `int y = x = a`.
        if self.is_used(parent) || subject.fact(parent).parent.is_some() {
            return;
        }
        let Some(store) = self.values.stored[parent as usize].filter(|store| self.is_plain_store(*store))
        else {
            return;
        };
        self.push(expression, Role::Assigned, ValueType::Pointer, At::Operand(store, 1), Vec::new());
    }

    fn array_base(&mut self, expression: Expression) {
        let subject = self.subject;
        let is_array =
            subject.variable(expression).is_some_and(|variable| variable.shape == VariableShape::Array);
        let Some(parent) = subject.fact(expression).parent.filter(|_| is_array) else { return };
        if subject.fact(parent).kind != ExpressionKind::Index {
            return;
        }
        let Some(CodeOperand::Result(at)) = self.values.address[parent as usize] else { return };
        let is_base = Some(self.code_operand(at, 0)) == self.values.address[expression as usize];
        if is_base && matches!(subject.code.at(at).opcode, Opcode::ElementPointer { .. }) {
            self.push(expression, Role::ArrayBase, ValueType::Pointer, At::Operand(at, 0), Vec::new());
        }
    }

    fn member(&mut self, expression: Expression) {
        let subject = self.subject;
        let Some(Named::Member { record, field: position }) = subject.fact(expression).names else { return };
        let record = &subject.facts.unit.records[record as usize];
        let field = &record.fields[position as usize];
        let Some(offset) = field.offset_bits.filter(|_| !record.is_union) else { return };
        let Some(at) = self.member_at(expression) else { return };
        let siblings = record
            .fields
            .iter()
            .enumerate()
            .filter(|(index, other)| {
                *index != position as usize
                    && other.canonical == field.canonical
                    && other.bit_width.is_none()
                    && !other.name.is_empty()
            })
            .filter_map(|(_, other)| {
                let offset = other.offset_bits.filter(|bits| bits % 8 == 0)?;
                Some(Sibling { name: other.name.clone(), offset: offset / 8 })
            })
            .collect();
        let role = Role::Member { offset: offset / 8 };
        self.push_member(expression, role, ValueType::Pointer, at, Vec::new(), siblings);
    }

    /// Where the address of a member is: computed, or a constant that a read or write uses.
    fn member_at(&self, expression: Expression) -> Option<At> {
        let subject = self.subject;
        match self.values.address[expression as usize]? {
            CodeOperand::Result(at) => {
                let is_computed = matches!(subject.code.at(at).opcode, Opcode::ElementPointer { .. });
                is_computed.then_some(At::Result(at))
            }
            CodeOperand::Global { .. } => match subject.usage(expression) {
                Usage::Read => {
                    let load = self.values.instruction[expression as usize]?;
                    let is_plain = subject.code.at(load).opcode == Opcode::Load { is_volatile: false };
                    is_plain.then_some(At::Operand(load, 0))
                }
                Usage::Assigned => {
                    let parent = subject.fact(expression).parent?;
                    let store = self.values.stored[parent as usize]?;
                    self.is_plain_store(store).then_some(At::Operand(store, 1))
                }
                Usage::Modified | Usage::Address => None,
            },
            _ => None,
        }
    }

    /// What `=` stores, and with it what uses the value of the assignment.
    pub(super) fn stored(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        // What a declaration or `return` does with it is another store.
        if fact.kind != ExpressionKind::Assign || fact.used_by != UsedBy::Other {
            return;
        }
        let Some(store) = self.values.stored[expression as usize].filter(|store| self.is_plain_store(*store))
        else {
            return;
        };
        let Some((left, right)) = subject.operands(expression) else { return };
        let Some(own) = types::scalar(&subject.fact(left).value_type) else { return };
        // A truth value is stored as a byte.
        let in_memory =
            if own == ValueType::Bool { ValueType::Int { bits: 8, is_signed: false } } else { own };
        let old = self.operand(left, own, OperandAt::Target(store));
        let Some(new) = self.right_side(right, in_memory, store) else { return };
        let Some(at) = self.stored_at(expression, store) else { return };
        self.push(expression, Role::Stored, in_memory, at, vec![old, new]);
    }

    /// Where the value of an assignment is: stored, and used after that if an expression or a statement uses it.
    fn stored_at(&self, expression: Expression, store: Definition) -> Option<At> {
        let subject = self.subject;
        if subject.fact(expression).parent.is_none() && !self.is_used(expression) {
            return Some(At::Operand(store, 0));
        }
        // Of a constant, and of a truth value that becomes a byte, only the store has what is changed.
        let is_bool = subject.fact(expression).value_type.class == TypeClass::Bool;
        let CodeOperand::Result(value) = self.code_operand(store, 0) else { return None };
        let is_after = |(user, _): &(Definition, u32)| {
            *user == store || user.block != store.block || user.instruction > store.instruction
        };
        (!is_bool && value.block == store.block && subject.uses(value).iter().all(is_after))
            .then_some(At::Stored(store))
    }

    /// Whether a declaration, a condition, a `switch` or `return` uses the value of an expression.
    pub(super) fn is_used(&self, expression: Expression) -> bool {
        let (fact, facts) = (self.subject.fact(expression), self.subject.function());
        fact.used_by != UsedBy::Other
            || facts.conditions.iter().any(|condition| condition.expression == expression)
            || facts.switches.iter().any(|switch| switch.value.contains(fact.extent.start))
    }

    /// The right side of `=` before it is converted to the type of the left side.
    fn right_side(
        &self,
        right: Expression,
        in_memory: ValueType,
        store: Definition,
    ) -> Option<(Operand, OperandAt)> {
        let subject = self.subject;
        let stored = self.code_operand(store, 0);
        if subject.fact(right).constant.is_some() {
            return Some(self.operand(right, in_memory, OperandAt::Operand(store, 0)));
        }
        let own = subject.scalar(right)?;
        let wanted = types::code_type(own);
        if subject.operand_type(stored) == Some(wanted)
            || stored == CodeOperand::Null && wanted == CodeType::Pointer
        {
            return Some(self.operand(right, own, OperandAt::Operand(store, 0)));
        }
        let CodeOperand::Result(conversion) = stored else { return None };
        let code = subject.code.at(conversion);
        if !matches!(code.opcode, Opcode::Convert { .. }) {
            return None;
        }
        let before = code.operands[0];
        match subject.operand_type(before)? {
            found if found == wanted => Some(self.operand(right, own, OperandAt::Operand(conversion, 0))),
            // What becomes a `bool` is tested, or is a truth value already.
            CodeType::Int(1) => self.truth_operand(right, before, OperandAt::Operand(conversion, 0)),
            _ => None,
        }
    }

    /// What `return` hands back.
    pub(super) fn returned(&mut self, expression: Expression) {
        let subject = self.subject;
        let UsedBy::Return(_) = subject.fact(expression).used_by else { return };
        let Some(at) = self.values.stored[expression as usize] else { return };
        let Some(value_type) = subject.function().result.as_ref().and_then(types::scalar) else { return };
        self.push(expression, Role::Returned, value_type, At::Operand(at, 0), Vec::new());
    }

    fn is_plain_store(&self, at: Definition) -> bool {
        self.subject.code.at(at).opcode == Opcode::Store { is_volatile: false }
    }
}
