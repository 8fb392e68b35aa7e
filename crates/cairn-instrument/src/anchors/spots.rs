//! From found expressions to spots and anchors.

mod addresses;
mod constants;
mod decisions;
mod values;

use super::{
    Anchor, At, OperandAt,
    subject::{Expression, Subject},
    tests_of::Tests,
    values::Values,
    variables::Offered,
};
use crate::ir::{CodeOperand, CodeType, Definition, Opcode};
use cairn_model::{facts::ConstantValue, mutants::ValueType};
use cairn_mutants::site::{Operand, Role, Sibling, Spot};

/// The spots of a function, in the order of their sites.
pub fn of(subject: &Subject, offered: &Offered, values: &Values, tests: &Tests) -> Vec<(Spot, Anchor)> {
    let mut builder = Builder { subject, offered, values, tests, spots: Vec::new() };
    for expression in 0..subject.n_expressions() as Expression {
        if subject.is_in_constant(expression) || !subject.is_open(expression) {
            continue;
        }
        builder.constant(expression);
        if subject.fact(expression).is_macro_use {
            builder.macro_use(expression);
            continue;
        }
        builder.value(expression);
        builder.addresses(expression);
        builder.logical(expression);
        builder.stored(expression);
        builder.returned(expression);
    }
    builder.decisions();
    builder.spots.sort_by_key(|(spot, _)| spot.site);
    builder.spots
}

struct Builder<'b, 'a> {
    subject: &'b Subject<'a>,
    offered: &'b Offered,
    values: &'b Values,
    tests: &'b Tests,
    spots: Vec<(Spot, Anchor)>,
}

/// How the truth value that an instruction computes is used.
enum TruthUse {
    /// Only its truth.
    Truth,
    /// As a number, which this instruction makes of it.
    Number(Definition),
    /// As both.
    Both,
}

impl Builder<'_, '_> {
    /// Of a system header's macro, the whole use can be changed. What it is computed from is in the macro's body.
    fn macro_use(&mut self, expression: Expression) {
        let n_before = self.spots.len();
        self.value(expression);
        self.returned(expression);
        for (spot, anchor) in &mut self.spots[n_before..] {
            spot.operands.clear();
            anchor.operands.clear();
        }
    }

    fn push(
        &mut self,
        expression: Expression,
        role: Role,
        value_type: ValueType,
        at: At,
        operands: Vec<(Operand, OperandAt)>,
    ) {
        self.push_member(expression, role, value_type, at, operands, Vec::new());
    }

    fn push_member(
        &mut self,
        expression: Expression,
        role: Role,
        value_type: ValueType,
        at: At,
        operands: Vec<(Operand, OperandAt)>,
        siblings: Vec<Sibling>,
    ) {
        let place = self.subject.fact(expression).extent.start;
        let (operands, operands_at) = operands.into_iter().unzip();
        let spot = Spot {
            site: self.subject.site(expression),
            role,
            value_type,
            operands,
            visible: self.offered.visible(place, self.subject.function()),
            siblings,
        };
        self.spots.push((spot, Anchor { at, operands: operands_at }));
    }

    /// An operand that comes from `expression`.
    fn operand(&self, expression: Expression, value_type: ValueType, at: OperandAt) -> (Operand, OperandAt) {
        let constant = match self.subject.fact(expression).constant {
            Some(ConstantValue::Integer(value)) => in_type(value, value_type),
            _ => None,
        };
        let operand = Operand {
            site: Some(self.subject.site(expression)),
            value_type,
            constant,
            is_pure: self.subject.is_pure(expression),
        };
        (operand, at)
    }

    fn code_operand(&self, at: Definition, number: usize) -> CodeOperand {
        self.subject.code.at(at).operands.get(number).copied().unwrap_or(CodeOperand::Other)
    }

    /// How the one bit that `at` computes is used. Conversions that nobody uses do not count.
    fn truth_use(&self, at: Definition) -> TruthUse {
        let subject = self.subject;
        let mut numbers = Vec::new();
        let mut has_truth = false;
        for (user, _) in subject.uses(at) {
            let code = subject.code.at(*user);
            match code.opcode {
                Opcode::Convert { .. } if subject.uses(*user).is_empty() => {}
                // A byte is how a `bool` is stored.
                Opcode::Convert { .. } if code.result != CodeType::Int(8) => numbers.push(*user),
                _ => has_truth = true,
            }
        }
        match (&numbers[..], has_truth) {
            ([], _) => TruthUse::Truth,
            ([number], false) if subject.code.at(*number).result == CodeType::Int(32) => {
                TruthUse::Number(*number)
            }
            _ => TruthUse::Both,
        }
    }
}

/// A constant as a number of a type.
fn in_type(value: i64, value_type: ValueType) -> Option<i64> {
    match value_type {
        ValueType::Bool => Some(i64::from(value != 0)),
        ValueType::Int { bits, is_signed } => {
            let unused = 64u32.saturating_sub(bits.into());
            let shifted = value << unused;
            Some(if is_signed { shifted >> unused } else { (shifted as u64 >> unused) as i64 })
        }
        ValueType::Float { .. } | ValueType::Pointer => None,
    }
}
