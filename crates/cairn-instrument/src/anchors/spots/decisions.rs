//! Logical operators, and what whole decisions test.

use super::{Builder, TruthUse};
use crate::{
    anchors::{At, LogicalResult, OperandAt, subject::Expression, types},
    ir::{CodeOperand, Definition, Opcode},
    join::EventKind,
};
use cairn_model::{
    facts::{DecisionFact, DecisionKind, TypeClass},
    mutants::ValueType,
};
use cairn_mutants::site::{Operand, Role};

impl Builder<'_, '_> {
    /// The spot of `&&` or `||`.
    pub(super) fn logical(&mut self, expression: Expression) {
        let Some(at) = self.values.logical[expression as usize].clone() else { return };
        let is_bool = self.subject.fact(expression).value_type.class == TypeClass::Bool;
        let value_type = match at.result {
            LogicalResult::Branches { .. } => ValueType::Bool,
            LogicalResult::Phi { phi, .. } => match self.truth_use(phi) {
                TruthUse::Truth => ValueType::Bool,
                _ if is_bool => ValueType::Bool,
                TruthUse::Number(_) => types::INT,
                TruthUse::Both => return,
            },
        };
        let operands = self.sides(expression, &at.result).unwrap_or_default();
        self.push(expression, Role::Logical, value_type, At::Logical(at), operands);
    }

    /// Both sides, if they are single conditions that are tested as they are.
    fn sides(&self, expression: Expression, result: &LogicalResult) -> Option<Vec<(Operand, OperandAt)>> {
        let (left, right) = self.subject.operands(expression)?;
        let left = self.tested_side(left)?;
        let right = match result {
            LogicalResult::Branches { .. } => self.tested_side(right)?,
            LogicalResult::Phi { phi, from, .. } => {
                self.tests.condition(self.subject, right)?;
                let Opcode::Phi(blocks) = &self.subject.code.at(*phi).opcode else { return None };
                let number = blocks.iter().position(|block| block == from)?;
                let CodeOperand::Result(tested) = self.code_operand(*phi, number) else { return None };
                self.truth_operand(right, CodeOperand::Result(tested), OperandAt::Result(tested))?
            }
        };
        let is_integer = |side: &(Operand, OperandAt)| {
            matches!(side.0.value_type, ValueType::Bool | ValueType::Int { .. })
        };
        (is_integer(&left) && is_integer(&right)).then(|| vec![left, right])
    }

    fn tested_side(&self, side: Expression) -> Option<(Operand, OperandAt)> {
        let (index, condition) = self.tests.condition(self.subject, side)?;
        let Some(EventKind::Branch { block }) = self.tests.event(index) else { return None };
        if condition.is_inverted {
            return None;
        }
        let CodeOperand::Result(tested) = self.code_operand(self.subject.end_of(block), 0) else {
            return None;
        };
        self.truth_operand(side, CodeOperand::Result(tested), OperandAt::Result(tested))
    }

    /// The spots of whole decisions that one branch or select tests.
    pub(super) fn decisions(&mut self) {
        for decision in &self.subject.function().decisions {
            let is_statement = matches!(
                decision.kind,
                DecisionKind::If
                    | DecisionKind::While
                    | DecisionKind::For
                    | DecisionKind::Do
                    | DecisionKind::Conditional
            );
            let found = match decision.conditions[..] {
                _ if !is_statement => None,
                [condition] => self.single_decision(condition),
                _ if decision.is_tested_whole => self.whole_decision(decision),
                _ => None,
            };
            if let Some((expression, at)) = found.filter(|(expression, _)| self.subject.is_open(*expression))
            {
                self.push(expression, Role::Decision, ValueType::Bool, At::Operand(at, 0), Vec::new());
            }
        }
    }

    fn single_decision(&self, condition: u32) -> Option<(Expression, Definition)> {
        let fact = &self.subject.function().conditions[condition as usize];
        let at = match self.tests.event(condition as usize)? {
            EventKind::Branch { block } => self.subject.end_of(block),
            EventKind::Select { at, .. } => at,
            EventKind::Value { .. } => return None,
        };
        let mut expression = fact.expression;
        // Where code tests the opposite, the site is what it tests.
        while fact.is_inverted && self.subject.fact(expression).operator == "!" {
            expression = self.subject.only_child(expression)?;
        }
        Some((expression, at))
    }

    fn whole_decision(&self, decision: &DecisionFact) -> Option<(Expression, Definition)> {
        let subject = self.subject;
        let expression = decision.expression?;
        let LogicalResult::Phi { phi, .. } = self.values.logical[expression as usize].as_ref()?.result else {
            return None;
        };
        let test = |at: Definition| {
            subject.uses(at).iter().find_map(|(user, number)| {
                let is_test = matches!(subject.code.at(*user).opcode, Opcode::Branch | Opcode::Select);
                (is_test && *number == 0).then_some(*user)
            })
        };
        if let Some(at) = test(phi) {
            return Some((expression, at));
        }
        // `while (!(a && b))` tests what `!` makes of it.
        let parent =
            subject.fact(expression).parent.filter(|parent| subject.fact(*parent).operator == "!")?;
        Some((parent, test(self.values.instruction[parent as usize]?)?))
    }
}
