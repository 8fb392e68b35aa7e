//! Finds the source condition behind each condition of the bitcode.
//!
//! Both sides are in emission order, so the join is an alignment of two sequences: a pair may be joined only if
//! the bitcode's place lies in the source condition, and the alignment with the best places wins. Macros put
//! many conditions at one place; if their numbers differ on the two sides, none of them is joined, because which
//! is which would be a guess.

use crate::ir::{Definition, IrFunction, IrKind, IrPlace};
use cairn_model::facts::{ConditionFact, DecisionKind, FunctionFacts, Place};
use std::collections::BTreeMap;

/// A condition in the bitcode.
#[derive(Debug, Clone)]
pub struct Event {
    /// How it appears.
    pub kind: EventKind,
    /// Where its value is computed.
    pub place: Option<IrPlace>,
}

/// How a condition appears in the bitcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The block ends with a conditional branch.
    Branch {
        /// The block.
        block: usize,
    },
    /// A select.
    Select {
        /// Where it stands.
        at: Definition,
        /// Where its condition is computed.
        condition: Definition,
    },
    /// An operand that reaches a boolean phi from `block`.
    Value {
        /// The block that hands it over.
        block: usize,
        /// Where it is computed.
        value: Definition,
    },
}

/// The conditions of a function in emission order.
pub fn events(function: &IrFunction) -> Vec<Event> {
    let place_at = |at: Definition| function.blocks[at.block].instructions[at.instruction].place;
    let mut events: Vec<((usize, usize), Event)> = Vec::new();
    for (block, ir_block) in function.blocks.iter().enumerate() {
        for (instruction, ir_instruction) in ir_block.instructions.iter().enumerate() {
            match &ir_instruction.kind {
                IrKind::Branch(condition, _) => {
                    let place = condition.and_then(place_at).or(ir_instruction.place);
                    events.push(((block, instruction), Event { kind: EventKind::Branch { block }, place }));
                }
                IrKind::Select(Some(condition)) => {
                    let at = Definition { block, instruction };
                    let kind = EventKind::Select { at, condition: *condition };
                    let place = place_at(*condition).or(ir_instruction.place);
                    events.push(((block, instruction), Event { kind, place }));
                }
                IrKind::BoolPhi(incoming) => {
                    // `a && b` as a value: every way but the last hands over a constant.
                    let mut computed = incoming.iter().filter_map(|(value, from)| Some(((*value)?, *from)));
                    let (Some((value, from)), None) = (computed.next(), computed.next()) else { continue };
                    if incoming.len() < 2 || is_logical_phi(function, value) {
                        continue;
                    }
                    let end = function.blocks[from].instructions.len();
                    let kind = EventKind::Value { block: from, value };
                    events.push(((from, end), Event { kind, place: place_at(value) }));
                }
                _ => {}
            }
        }
    }
    events.sort_by_key(|(position, _)| *position);
    events.into_iter().map(|(_, event)| event).collect()
}

fn is_logical_phi(function: &IrFunction, value: Definition) -> bool {
    match &function.blocks[value.block].instructions[value.instruction].kind {
        IrKind::BoolPhi(incoming) => incoming.iter().filter(|(value, _)| value.is_some()).count() == 1,
        _ => false,
    }
}

/// What became of each source condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// It is this event.
    Event(usize),
    /// The front end folded it.
    Constant,
    /// No code was emitted for it.
    Dead,
    /// It cannot be told apart from others at its place.
    Ambiguous,
}

/// Joins the conditions of `facts` to `events`. `file_of` turns a file of the facts into one of the bitcode.
pub fn join(events: &[Event], facts: &FunctionFacts, file_of: &dyn Fn(u32) -> Option<u32>) -> Vec<Joined> {
    let live: Vec<usize> =
        (0..facts.conditions.len()).filter(|index| facts.conditions[*index].constant.is_none()).collect();
    let score = |event: &Event, condition: usize| -> u32 {
        let condition = &facts.conditions[condition];
        if fits_kind(event, condition, facts) { place_score(event, condition, facts, file_of) } else { 0 }
    };
    let pairs = align(events.len(), live.len(), |e, c| score(&events[e], live[c]));

    let mut joined = vec![Joined::Dead; facts.conditions.len()];
    for (index, condition) in facts.conditions.iter().enumerate() {
        if condition.constant.is_some() {
            joined[index] = Joined::Constant;
        }
    }
    for (event, condition) in &pairs {
        joined[live[*condition]] = Joined::Event(*event);
    }
    join_out_of_order(events, facts, &live, score, &mut joined);
    mark_ambiguous(events, facts, file_of, &mut joined);
    joined
}

fn fits_kind(event: &Event, condition: &ConditionFact, facts: &FunctionFacts) -> bool {
    let decision = facts.decisions[condition.decision as usize].kind;
    match event.kind {
        EventKind::Value { .. } => condition.is_value,
        EventKind::Branch { .. } => !condition.is_value,
        EventKind::Select { .. } => !condition.is_value && decision == DecisionKind::Conditional,
    }
}

/// The score of a pair at exactly the place debug information is expected to name.
const EXACT: u32 = 3;

fn place_score(
    event: &Event,
    condition: &ConditionFact,
    facts: &FunctionFacts,
    file_of: &dyn Fn(u32) -> Option<u32>,
) -> u32 {
    let Some(place) = event.place else { return 0 };
    let same = |other: Place| {
        file_of(other.file) == Some(place.file) && (other.line, other.column) == (place.line, place.column)
    };
    if same(condition.place) {
        return EXACT;
    }
    if same(facts.expressions[condition.expression as usize].place) {
        return 2;
    }
    let at = (place.line, place.column);
    let (start, end) = (condition.extent.start, condition.extent.end);
    let is_inside = file_of(start.file) == Some(place.file)
        && (start.line, start.column) <= at
        && (at < (end.line, end.column) || at == (start.line, start.column));
    u32::from(is_inside)
}

/// The pairs of the alignment with the highest total score; score 0 forbids a pair.
fn align(n: usize, m: usize, score: impl Fn(usize, usize) -> u32) -> Vec<(usize, usize)> {
    let mut best = vec![vec![0u32; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let pair = match score(i, j) {
                0 => 0,
                points => points + best[i + 1][j + 1],
            };
            best[i][j] = pair.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < n && j < m {
        let points = score(i, j);
        if points > 0 && best[i][j] == points + best[i + 1][j + 1] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[i][j] == best[i][j + 1] {
            j += 1;
        } else {
            i += 1;
        }
    }
    pairs
}

/// Joins what the alignment left over where place alone decides: exception handlers and cleanups are emitted out
/// of order, but one condition and one event that fit only each other belong together.
fn join_out_of_order(
    events: &[Event],
    facts: &FunctionFacts,
    live: &[usize],
    score: impl Fn(&Event, usize) -> u32,
    joined: &mut [Joined],
) {
    let free_conditions: Vec<usize> = live.iter().copied().filter(|index| joined[*index] == Joined::Dead).collect();
    let free_events: Vec<usize> =
        (0..events.len()).filter(|index| !joined.contains(&Joined::Event(*index))).collect();
    let same_place = |a: usize, b: usize| facts.conditions[a].place == facts.conditions[b].place;
    for condition in &free_conditions {
        let mut fitting = free_events.iter().filter(|event| score(&events[**event], *condition) == EXACT);
        let (Some(event), None) = (fitting.next(), fitting.next()) else { continue };
        let is_alone = (0..facts.conditions.len()).filter(|other| same_place(*condition, *other)).count() == 1;
        if is_alone {
            joined[*condition] = Joined::Event(*event);
        }
    }
}

/// Gives up the joins at places where both sides have several conditions and not equally many.
fn mark_ambiguous(
    events: &[Event],
    facts: &FunctionFacts,
    file_of: &dyn Fn(u32) -> Option<u32>,
    joined: &mut [Joined],
) {
    let mut conditions_at: BTreeMap<(u32, u32, u32), Vec<usize>> = BTreeMap::new();
    for (index, condition) in facts.conditions.iter().enumerate() {
        let place = condition.place;
        if let (Some(file), None) = (file_of(place.file), condition.constant) {
            conditions_at.entry((file, place.line, place.column)).or_default().push(index);
        }
    }
    for (at, conditions) in conditions_at.into_iter().filter(|(_, conditions)| conditions.len() > 1) {
        let n_events = events
            .iter()
            .filter(|event| event.place.is_some_and(|place| (place.file, place.line, place.column) == at))
            .count();
        let n_joined = conditions.iter().filter(|index| matches!(joined[**index], Joined::Event(_))).count();
        if n_joined > 0 && (n_joined != conditions.len() || n_events > n_joined) {
            for index in conditions {
                joined[index] = Joined::Ambiguous;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_alignment_skips_what_fits_nowhere() {
        // Events at columns 5, 7, 9; conditions at 5, 9: the middle event is hidden.
        let (events, conditions) = ([5, 7, 9], [5, 9]);
        let pairs = align(3, 2, |e, c| if events[e] == conditions[c] { 3 } else { 0 });
        assert_eq!(pairs, [(0, 0), (2, 1)]);
    }

    #[test]
    fn order_decides_between_equal_places() {
        assert_eq!(align(2, 2, |_, _| 1), [(0, 0), (1, 1)]);
    }
}
