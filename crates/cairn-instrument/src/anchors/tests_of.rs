//! Where conditions are tested, and where logical operators are.

use super::{
    LogicalAt, LogicalResult,
    subject::{Expression, Subject},
};
use crate::{
    ir::{CodeOperand, CodeType, Definition, IrFunction, IrKind, Opcode},
    join::{self, Event, EventKind, Joined},
    mapping::switches,
};
use cairn_model::facts::{ConditionFact, ExpressionKind};
use std::collections::HashMap;

/// An edge: a block and the number of a successor.
pub type Edge = (usize, u32);

/// The conditions of a function, joined to its code.
pub struct Tests {
    events: Vec<Event>,
    joined: Vec<Joined>,
    condition_of: HashMap<Expression, usize>,
}

/// The edges on which an expression leaves when it is true, and when it is false.
struct Exits {
    when_true: Vec<Edge>,
    when_false: Vec<Edge>,
}

impl Tests {
    /// Joins them, as the map does.
    pub fn of(subject: &Subject) -> Self {
        let facts = subject.facts;
        let file_of = |file: u32| facts.ir_files[file as usize];
        let mut events = join::events(subject.ir);
        let range_checks: Vec<usize> = (0..subject.ir.blocks.len())
            .flat_map(|block| {
                let switch = switches::facts_of(subject.ir, block, facts.function, &file_of);
                switch.map(|switch| switches::range_checks(subject.ir, block, switch)).unwrap_or_default()
            })
            .collect();
        events.retain(|event| match event.kind {
            EventKind::Branch { block } => !range_checks.contains(&block),
            _ => true,
        });
        let joined = join::join(&events, facts.function, &file_of);
        let conditions = facts.function.conditions.iter().enumerate();
        let condition_of = conditions.map(|(index, condition)| (condition.expression, index)).collect();
        Self { events, joined, condition_of }
    }

    /// The condition that an expression is.
    pub fn condition<'a>(
        &self,
        subject: &Subject<'a>,
        expression: Expression,
    ) -> Option<(usize, &'a ConditionFact)> {
        let index = *self.condition_of.get(&expression)?;
        Some((index, &subject.function().conditions[index]))
    }

    /// How a condition appears in the code.
    pub fn event(&self, condition: usize) -> Option<EventKind> {
        match self.joined[condition] {
            Joined::Event(event) => Some(self.events[event].kind),
            _ => None,
        }
    }

    /// Where `&&` or `||` is.
    pub fn logical(&self, subject: &Subject, expression: Expression) -> Option<LogicalAt> {
        let (left, right) = subject.operands(expression)?;
        let is_and = subject.fact(expression).operator == "&&";
        let left = self.exits(subject, left)?;
        let (onward, past) =
            if is_and { (&left.when_true, &left.when_false) } else { (&left.when_false, &left.when_true) };
        let start = common_target(subject.ir, onward)?;
        let result = match self.exits(subject, right) {
            Some(right) => {
                let (true_edges, false_edges) = if is_and {
                    (right.when_true.clone(), [&past[..], &right.when_false].concat())
                } else {
                    ([&past[..], &right.when_true].concat(), right.when_false.clone())
                };
                LogicalResult::Branches {
                    when_true: common_target(subject.ir, &true_edges)?,
                    when_false: common_target(subject.ir, &false_edges)?,
                    right_true: right.when_true,
                    right_false: right.when_false,
                }
            }
            None => phi(subject, past, is_and)?,
        };
        Some(LogicalAt {
            is_and,
            left_true: left.when_true,
            left_false: left.when_false,
            right: start,
            result,
        })
    }

    fn exits(&self, subject: &Subject, expression: Expression) -> Option<Exits> {
        if let Some((index, condition)) = self.condition(subject, expression) {
            let Some(EventKind::Branch { block }) = self.event(index) else { return None };
            let (yes, no) = (vec![(block, 0)], vec![(block, 1)]);
            let exits = Exits { when_true: yes, when_false: no };
            return Some(if condition.is_inverted { exits.swapped() } else { exits });
        }
        let fact = subject.fact(expression);
        match fact.kind {
            ExpressionKind::Unary if fact.operator == "!" => {
                Some(self.exits(subject, subject.only_child(expression)?)?.swapped())
            }
            ExpressionKind::Logical => {
                let (left, right) = subject.operands(expression)?;
                let (left, right) = (self.exits(subject, left)?, self.exits(subject, right)?);
                Some(if fact.operator == "&&" {
                    Exits {
                        when_true: right.when_true,
                        when_false: [left.when_false, right.when_false].concat(),
                    }
                } else {
                    Exits {
                        when_true: [left.when_true, right.when_true].concat(),
                        when_false: right.when_false,
                    }
                })
            }
            _ => None,
        }
    }
}

impl Exits {
    fn swapped(self) -> Self {
        Self { when_true: self.when_false, when_false: self.when_true }
    }
}

/// The block that all edges lead to.
fn common_target(function: &IrFunction, edges: &[Edge]) -> Option<usize> {
    let mut targets = edges.iter().map(|(block, way)| match function.blocks[*block].end() {
        IrKind::Branch(_, ways) => Some(ways[*way as usize]),
        _ => None,
    });
    let first = targets.next()??;
    targets.all(|target| target == Some(first)).then_some(first)
}

/// The phi in which the left side's early exits meet the right side.
fn phi(subject: &Subject, past: &[Edge], is_and: bool) -> Option<LogicalResult> {
    let block = common_target(subject.ir, past)?;
    let early = CodeOperand::Integer { bits: 1, value: if is_and { 0 } else { -1 } };
    let mut found = None;
    for (instruction, code) in subject.code.blocks[block].iter().enumerate() {
        let Opcode::Phi(blocks) = &code.opcode else { break };
        let at = Definition { block, instruction };
        let has_no_place = subject.ir.blocks[block].instructions[instruction].place.is_none();
        if code.result != CodeType::Int(1) || !has_no_place {
            continue;
        }
        let is_early = |from: usize| past.iter().any(|(block, _)| *block == from);
        let mut late = blocks.iter().zip(&code.operands).filter(|(from, _)| !is_early(**from));
        let (Some((from, _)), None) = (late.next(), late.next()) else { continue };
        let all_early =
            blocks.iter().zip(&code.operands).all(|(from, value)| !is_early(*from) || *value == early);
        let is_complete = past.iter().all(|(edge, _)| blocks.contains(edge));
        if all_early && is_complete && found.is_none() {
            found = Some((at, *from));
        } else {
            return None;
        }
    }
    let (phi, from) = found?;
    let extended = match subject.uses(phi) {
        [(user, _)] => {
            let code = subject.code.at(*user);
            let is_number = matches!(code.opcode, Opcode::Convert { .. }) && code.result == CodeType::Int(32);
            is_number.then_some(*user)
        }
        _ => None,
    };
    Some(LogicalResult::Phi { phi, from, extended })
}
