//! What assignments, `op=`, `++`, initialisers and `return` write.

use super::{Finder, matching::is_constant, operators::arithmetic};
use crate::{
    anchors::{subject::Expression, types},
    ir::{Arithmetic, CodeOperand, CodeType, Definition, Opcode, Predicate},
};
use cairn_model::{
    facts::{ConstantValue, Place, UsedBy},
    mutants::ValueType,
};

impl Finder<'_, '_> {
    pub(super) fn assign(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some((left, right)) = subject.operands(expression) else { return };
        self.value[expression as usize] = self.value[right as usize];
        let is_bit_field = subject.field(left).is_some_and(|(field, _)| field.bit_width.is_some());
        let Some(address) = self.address[left as usize].filter(|_| !is_bit_field) else { return };
        let Some(value_type) = types::scalar(&subject.fact(left).value_type) else { return };
        let memory_type = types::memory_type(value_type);
        self.stored[expression as usize] = self.take(expression, fact.place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Store { .. })
                && finder.operand(at, 1) == address
                && subject.operand_type(finder.operand(at, 0)).is_none_or(|found| found == memory_type)
                && finder.is_truth_or_value(finder.operand(at, 0), right, value_type)
        });
    }

    /// `a op= b`: an operation between a load and a store of `a`, all at the operator.
    pub(super) fn compound(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some((left, right)) = subject.operands(expression) else { return };
        let Some(address) = self.address[left as usize] else { return };
        let (Some(left_type), Some(right_type)) = (subject.scalar(left), subject.scalar(right)) else {
            return;
        };
        let operator = fact.operator.trim_end_matches('=');
        let at = if left_type == ValueType::Pointer {
            self.take(expression, fact.place, |finder, at| {
                matches!(finder.opcode(at), Opcode::ElementPointer { .. })
                    && subject.code.at(at).operands.len() == 2
                    && finder.is_old_value(finder.operand(at, 0), address, fact.place)
                    && finder.is_distance(finder.operand(at, 1), right, operator == "-")
                    && finder.written(at, address).is_some()
            })
        } else {
            let Some((arithmetic, result)) = arithmetic(operator, left_type, right_type) else { return };
            self.take(expression, fact.place, |finder, at| {
                *finder.opcode(at) == Opcode::Arithmetic(arithmetic)
                    && subject.code.at(at).result == types::code_type(result)
                    && finder.is_old_value(finder.operand(at, 0), address, fact.place)
                    && finder.matches(finder.operand(at, 1), right)
                    && finder.written(at, address).is_some()
            })
        };
        self.changed(expression, at, address, fact.place);
    }

    /// `++a` and `a--`: likewise, by one.
    pub(super) fn step(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        let Some(child) = subject.only_child(expression) else { return };
        let Some(address) = self.address[child as usize] else { return };
        let one = if fact.operator == "++" { 1 } else { -1 };
        let at = self.take(expression, fact.place, |finder, at| {
            let is_step = match finder.opcode(at) {
                Opcode::ElementPointer { .. } if subject.code.at(at).operands.len() == 2 => true,
                Opcode::Arithmetic(Arithmetic::Add | Arithmetic::FAdd) => true,
                _ => false,
            };
            is_step
                && is_constant(finder.operand(at, 1), ConstantValue::Integer(one))
                && finder.is_old_value(finder.operand(at, 0), address, fact.place)
                && finder.written(at, address).is_some()
        });
        self.changed(expression, at, address, fact.place);
        // What `a++` hands on is the old value.
        let is_postfix = !fact.text.starts_with(fact.operator.as_str());
        if let (Some(at), true) = (at, is_postfix) {
            self.value[expression as usize] = Some(subject.unconverted(self.operand(at, 0)));
        }
    }

    /// The load of a variable that is changed counts among the reads at its place.
    pub(super) fn changed(
        &mut self,
        expression: Expression,
        at: Option<Definition>,
        address: CodeOperand,
        place: Place,
    ) {
        let Some(at) = at else { return };
        let old = self.subject.unconverted(self.operand(at, 0));
        let load = self.take(expression, place, |finder, at| {
            matches!(finder.opcode(at), Opcode::Load { .. }) && finder.operand(at, 0) == address
        });
        if load.map(CodeOperand::Result) == Some(old) {
            self.computed(expression, at);
            self.stored[expression as usize] = self.written(at, address);
        }
    }

    pub(super) fn is_old_value(&self, operand: CodeOperand, address: CodeOperand, place: Place) -> bool {
        match self.subject.unconverted(operand) {
            CodeOperand::Result(at) => {
                matches!(self.opcode(at), Opcode::Load { .. })
                    && self.operand(at, 0) == address
                    && self.subject.at_place(place).contains(&at)
            }
            _ => false,
        }
    }

    /// The store of a value to an address, with nothing but conversions between.
    pub(super) fn written(&self, at: Definition, address: CodeOperand) -> Option<Definition> {
        self.subject.uses(at).iter().find_map(|(user, number)| match self.opcode(*user) {
            Opcode::Store { .. } if *number == 0 && self.operand(*user, 1) == address => Some(*user),
            Opcode::Convert { .. } => self.written(*user, address),
            // A number becomes a `bool`.
            Opcode::Compare(Predicate::Ne)
                if matches!(self.operand(*user, 1), CodeOperand::Integer { value: 0, .. })
                    && self.subject.code.at(at).result != CodeType::Int(1) =>
            {
                self.written(*user, address)
            }
            _ => None,
        })
    }

    /// What initialises a variable, and what is returned.
    pub(super) fn used_by_statement(&mut self, expression: Expression) {
        let subject = self.subject;
        let fact = subject.fact(expression);
        match fact.used_by {
            UsedBy::Other => {}
            UsedBy::Variable(number) => {
                let variable = &subject.function().variables[number as usize];
                let Some(storage) = self.storages.local(number).filter(|_| !variable.is_static) else {
                    return;
                };
                let Some(value_type) = types::scalar(&variable.value_type) else { return };
                self.stored[expression as usize] = self.take(expression, variable.place, |finder, at| {
                    matches!(finder.opcode(at), Opcode::Store { .. })
                        && finder.operand(at, 1) == storage
                        && finder.is_truth_or_value(finder.operand(at, 0), expression, value_type)
                });
            }
            UsedBy::Return(place) => {
                let result = subject.function().result.as_ref().and_then(types::scalar);
                let Some(value_type) = result else { return };
                self.stored[expression as usize] = self.take(expression, place, |finder, at| {
                    let is_return = match finder.opcode(at) {
                        Opcode::Return => true,
                        Opcode::Store { .. } => finder.is_result_slot(finder.operand(at, 1)),
                        _ => false,
                    };
                    let operand = finder.operand(at, 0);
                    is_return
                        && subject.operand_type(operand) == Some(types::code_type(value_type))
                        && finder.is_truth_or_value(operand, expression, value_type)
                });
            }
        }
    }

    /// Whether it is an `alloca` that is no variable of the source.
    pub(super) fn is_result_slot(&self, operand: CodeOperand) -> bool {
        let CodeOperand::Result(at) = operand else { return false };
        *self.opcode(at) == Opcode::Alloca && self.subject.code.locals.iter().all(|local| local.storage != at)
    }
}
