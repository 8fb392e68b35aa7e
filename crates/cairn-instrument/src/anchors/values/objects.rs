//! Where objects are: variables, members, elements, and what pointers point to.

use super::Finder;
use crate::{
    anchors::{
        subject::{Expression, Usage},
        types,
    },
    ir::{Arithmetic, CodeOperand, CodeType, Definition, Opcode},
};
use cairn_model::{
    facts::{ConstantValue, ExpressionKind, TypeClass},
    mutants::ValueType,
};

impl Finder<'_, '_> {
    /// A variable, a member, an element or `*p`: its address, and the load if it is read.
    pub(super) fn object(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let is_bit_field = subject.field(expression).is_some_and(|(field, _)| field.bit_width.is_some());
        if is_bit_field {
            return self.bit_field(expression);
        }
        let address = match fact.kind {
            ExpressionKind::Reference => self.variable_address(expression),
            ExpressionKind::Member => self.member_address(expression),
            ExpressionKind::Index => self.element_address(expression),
            _ => subject.only_child(expression).and_then(|child| self.pointer(child)),
        };
        let Some(address) = address else { return };
        self.address[expression as usize] = Some(address);
        if subject.usage(expression) != Usage::Read {
            return;
        }
        let Some(value_type) = types::scalar(&fact.value_type) else { return };
        let memory_type = types::memory_type(value_type);
        let load = self.take(expression, fact.place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Load { .. })
                && finder.operand(at, 0) == address
                && subject.code.at(at).result == memory_type
        });
        if let Some(load) = load {
            self.computed(expression, load);
        }
    }

    /// A bit-field that is read: the last of what takes it out of the bytes around it.
    ///
    /// ```text
    ///   %load = load i16, ptr %s
    ///   %shift = lshr i16 %load, 8
    ///   %clear = and i16 %shift, 127
    ///   %cast = zext i16 %clear to i32
    /// ```
    fn bit_field(&mut self, expression: Expression) {
        let subject = self.subject;
        let place = subject.fact(expression).place;
        let (Some(value_type), Usage::Read) = (subject.scalar(expression), subject.usage(expression)) else {
            return;
        };
        let base = match subject.only_child(expression) {
            Some(base) if subject.fact(base).value_type.class == TypeClass::Pointer => self.pointer(base),
            Some(base) => self.address[base as usize],
            None => None,
        };
        let Some(base) = base else { return };
        let load = self.take(expression, place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Load { is_volatile: false })
                && finder.is_part_of(finder.operand(at, 0), base)
        });
        let Some(mut at) = load else { return };
        while let [(user, _)] = subject.uses(at)
            && subject.at_place(place).contains(user)
            && self.takes_out(*user, at)
        {
            at = *user;
        }
        if subject.code.at(at).result == types::code_type(value_type) {
            self.computed(expression, at);
        }
    }

    /// Whether an instruction is one of those that take a bit-field out of what was loaded.
    fn takes_out(&self, at: Definition, from: Definition) -> bool {
        let is_constant = matches!(self.operand(at, 1), CodeOperand::Integer { .. });
        self.operand(at, 0) == CodeOperand::Result(from)
            && match self.opcode(at) {
                Opcode::Arithmetic(
                    Arithmetic::Shl | Arithmetic::LShr | Arithmetic::AShr | Arithmetic::And,
                ) => is_constant,
                Opcode::Convert { .. } => true,
                _ => false,
            }
    }

    /// Whether a pointer points to a structure, or to a part of it at a fixed distance.
    fn is_part_of(&self, operand: CodeOperand, base: CodeOperand) -> bool {
        if self.is_same_pointer(operand, base) {
            return true;
        }
        match (operand, base) {
            (CodeOperand::Result(at), _) => {
                matches!(self.opcode(at), Opcode::ElementPointer { offset: Some(_) })
                    && self.is_same_pointer(self.operand(at, 0), base)
            }
            (CodeOperand::Global { global, .. }, CodeOperand::Global { global: other, .. }) => {
                global == other
            }
            _ => false,
        }
    }

    /// Where a variable is; of a reference, what it refers to.
    pub(super) fn variable_address(&mut self, expression: Expression) -> Option<CodeOperand> {
        let subject = self.subject;
        let storage = self.storages.named(subject, expression)?;
        if !is_reference(&subject.variable(expression)?.canonical) {
            return Some(storage);
        }
        let at = self.take(expression, subject.fact(expression).place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Load { .. })
                && finder.operand(at, 0) == storage
                && subject.code.at(at).result == CodeType::Pointer
        })?;
        Some(CodeOperand::Result(at))
    }

    pub(super) fn member_address(&mut self, expression: Expression) -> Option<CodeOperand> {
        let subject = self.subject;
        let (field, is_union) = subject.field(expression)?;
        // Without an operand it is a member of `*this`.
        let base = match subject.only_child(expression) {
            Some(base) if subject.fact(base).value_type.class == TypeClass::Pointer => {
                Some(self.pointer(base)?)
            }
            Some(base) => Some(self.address[base as usize]?),
            None => None,
        };
        if is_union {
            return base;
        }
        let distance = field.offset_bits.filter(|bits| bits % 8 == 0)? / 8;
        if let Some(CodeOperand::Global { global, offset }) = base {
            return Some(CodeOperand::Global { global, offset: offset + distance });
        }
        let place = subject.fact(expression).place;
        let at = self.take(expression, place, |finder, at| {
            *finder.opcode(at) == Opcode::ElementPointer { offset: Some(distance) }
                && base.is_none_or(|base| finder.is_same_pointer(finder.operand(at, 0), base))
                && subject.code.at(at).operands.len() == 3
                // An array's start is found by 64-bit numbers.
                && matches!(finder.operand(at, 2), CodeOperand::Integer { bits: 32, .. })
        })?;
        Some(CodeOperand::Result(at))
    }

    pub(super) fn element_address(&mut self, expression: Expression) -> Option<CodeOperand> {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let (base, index) = self.base_and_index(expression)?;
        let base = self.pointer(base)?;
        if let (CodeOperand::Global { global, offset }, Some(ConstantValue::Integer(index))) =
            (base, subject.fact(index).constant)
        {
            let size = i64::from(fact.value_type.bits / 8);
            let offset = offset.checked_add(index.checked_mul(size)?)?;
            return (size > 0).then_some(CodeOperand::Global { global, offset });
        }
        let at = self.take(expression, fact.place, |finder, at| {
            let n_operands = subject.code.at(at).operands.len();
            matches!(finder.opcode(at), Opcode::ElementPointer { .. })
                && finder.is_same_pointer(finder.operand(at, 0), base)
                && (n_operands == 2
                    || n_operands == 3
                        && finder.operand(at, 1) == CodeOperand::Integer { bits: 64, value: 0 })
                && finder.matches(finder.operand(at, n_operands - 1), index)
        })?;
        Some(CodeOperand::Result(at))
    }

    /// The pointer and the number of `a[i]`, which C also lets one write `i[a]`.
    pub(super) fn base_and_index(&self, expression: Expression) -> Option<(Expression, Expression)> {
        let (left, right) = self.subject.operands(expression)?;
        let is_pointer = |side: Expression| self.subject.scalar(side) == Some(ValueType::Pointer);
        match (is_pointer(left), is_pointer(right)) {
            (true, false) => Some((left, right)),
            (false, true) => Some((right, left)),
            _ => None,
        }
    }

    /// The value of a pointer; of an array its address.
    pub(super) fn pointer(&self, expression: Expression) -> Option<CodeOperand> {
        match self.subject.fact(expression).is_array {
            true => self.address[expression as usize],
            false => self.value[expression as usize],
        }
    }

    /// Whether a pointer in the code is this one, an array's address perhaps taken by a `getelementptr` to its start.
    pub(super) fn is_same_pointer(&self, operand: CodeOperand, pointer: CodeOperand) -> bool {
        if operand == pointer {
            return true;
        }
        match operand {
            CodeOperand::Result(at) => {
                *self.opcode(at) == Opcode::ElementPointer { offset: Some(0) }
                    && self.operand(at, 0) == pointer
            }
            _ => false,
        }
    }
}

/// Whether a type is a reference, to an array too: `int &`, `int (&)[3]`.
fn is_reference(canonical: &str) -> bool {
    canonical.ends_with('&') || canonical.split_once("(&)").is_some_and(|(before, _)| !before.contains('('))
}
