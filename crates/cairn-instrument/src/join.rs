//! Finds the source condition behind each condition of the bitcode.
//!
//! Both sides are in emission order, so the join is an alignment of two sequences: a pair may be joined only if
//! the bitcode's place lies in the source condition, and the alignment with the best places wins. Macros put
//! many conditions at one place; if their numbers differ on the two sides, none of them is joined, because which
//! is which would be a guess.

use crate::ir::{Definition, IrFunction, IrKind, IrPlace};
use cairn_model::facts::{ArmFact, ConditionFact, Emission, ExpressionKind, Extent, FunctionFacts, Place};
use std::collections::BTreeMap;

/// A condition in the bitcode.
#[derive(Debug, Clone)]
pub struct Event {
    /// How it appears.
    pub kind: EventKind,
    /// Where its value is computed.
    pub place: Option<IrPlace>,
    /// What it is for.
    pub role: Role,
}

/// What a branch or select is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It tests a condition.
    Test,
    /// It tests the result of `&&` or `||`, whose operands were tested before: `while (a && b)`.
    Whole,
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
///
/// Branches on constants are none.
pub fn events(function: &IrFunction) -> Vec<Event> {
    let place_at = |at: Definition| function.blocks[at.block].instructions[at.instruction].place;
    let role_of = |at: Definition| if is_logical_result(function, at) { Role::Whole } else { Role::Test };
    let mut events: Vec<((usize, usize), Event)> = Vec::new();
    for (block, ir_block) in function.blocks.iter().enumerate() {
        for (instruction, ir_instruction) in ir_block.instructions.iter().enumerate() {
            match &ir_instruction.kind {
                IrKind::Branch(Some(condition), _) => {
                    let place = place_at(*condition).or(ir_instruction.place);
                    let event = Event { kind: EventKind::Branch { block }, place, role: role_of(*condition) };
                    events.push(((block, instruction), event));
                }
                IrKind::Select(Some(condition)) => {
                    let at = Definition { block, instruction };
                    let kind = EventKind::Select { at, condition: *condition };
                    let place = place_at(*condition).or(ir_instruction.place);
                    events.push(((block, instruction), Event { kind, place, role: role_of(*condition) }));
                }
                IrKind::BoolPhi { incoming, .. } => {
                    let at = Definition { block, instruction };
                    let Some((value, from)) = logical_operand(function, at, incoming) else { continue };
                    let end = function.blocks[from].instructions.len();
                    let kind = EventKind::Value { block: from, value };
                    events.push(((from, end), Event { kind, place: place_at(value), role: Role::Test }));
                }
                _ => {}
            }
        }
    }
    events.sort_by_key(|(position, _)| *position);
    events.into_iter().map(|(_, event)| event).collect()
}

/// The last operand of a logical operator, and the block it comes from.
///
/// Every other way into the phi hands over a constant. clang gives such a phi no line, but does to that of `?:`.
fn logical_operand(
    function: &IrFunction,
    phi: Definition,
    incoming: &[(Option<Definition>, usize)],
) -> Option<(Definition, usize)> {
    if !is_logical_result(function, phi) {
        return None;
    }
    let (value, from) = incoming.iter().find_map(|(value, from)| Some(((*value)?, *from)))?;
    // An operand that is itself `&&` or `||` has its own phi.
    (!is_logical_result(function, value)).then_some((value, from))
}

/// Whether a value is the result of `&&` or `||`, negated or not.
fn is_logical_result(function: &IrFunction, at: Definition) -> bool {
    let instruction = &function.blocks[at.block].instructions[at.instruction];
    match &instruction.kind {
        IrKind::BoolPhi { incoming, .. } => {
            let n_computed = incoming.iter().filter(|(value, _)| value.is_some()).count();
            instruction.place.is_none() && n_computed <= 1 && incoming.len() > 1
        }
        IrKind::Not(Some(value)) => is_logical_result(function, *value),
        _ => false,
    }
}

/// What became of each source condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    /// It is this event.
    Event(usize),
    /// It is decided by whichever of these events happens: the arms of a `?:`, by number, that are no logical
    /// operators themselves.
    Split(Vec<(usize, usize)>),
    /// The front end folded it.
    Constant,
    /// It is a boolean that nothing tests.
    Untested,
    /// No code was emitted for it.
    Dead,
    /// It cannot be told apart from others at its place.
    Ambiguous,
}

/// A test expected in the bitcode: a condition, or an arm of one.
struct Slot<'a> {
    condition: usize,
    arm: Option<usize>,
    place: Place,
    extent: &'a Extent,
    emission: Emission,
}

/// Joins the conditions of `facts` to `events`. `file_of` turns a file of the facts into one of the bitcode.
pub fn join(events: &[Event], facts: &FunctionFacts, file_of: &dyn Fn(u32) -> Option<u32>) -> Vec<Joined> {
    let slots = slots(facts);
    let score = |event: usize, slot: usize| {
        let (event, slot) = (&events[event], &slots[slot]);
        let fits = event.role == Role::Test && fits_kind(event, slot.emission);
        if fits { place_score(event, slot, facts, file_of) } else { 0 }
    };
    let mut event_of: Vec<Option<usize>> = vec![None; slots.len()];
    for (event, slot) in align(events.len(), slots.len(), score) {
        event_of[slot] = Some(event);
    }
    join_out_of_order(events.len(), &slots, score, &mut event_of);
    let ambiguous = ambiguous(events, &slots, file_of, &event_of);

    let mut joined: Vec<Joined> = facts.conditions.iter().map(without_event).collect();
    for (index, slot) in slots.iter().enumerate() {
        let target = &mut joined[slot.condition];
        match (slot.arm, event_of[index]) {
            _ if ambiguous[index] => *target = Joined::Ambiguous,
            (None, Some(event)) => *target = Joined::Event(event),
            (Some(arm), Some(event)) => {
                if let Joined::Split(events) = target {
                    events.push((arm, event));
                }
            }
            (_, None) => {}
        }
    }
    join_whole_tests(events, facts, &mut joined);
    joined
}

/// Joins conditions whose value ends in `&&` or `||` (`if (a, b && c)`, `if ((int)(a && b))`) to the branch on its
/// result, if there are exactly as many such branches as the source explains.
fn join_whole_tests(events: &[Event], facts: &FunctionFacts, joined: &mut [Joined]) {
    let tests: Vec<usize> = (0..events.len()).filter(|event| events[*event].role == Role::Whole).collect();
    let mut explained: Vec<Option<usize>> = Vec::new();
    for (index, condition) in facts.conditions.iter().enumerate() {
        let expression = &facts.expressions[condition.expression as usize];
        let may_end_logical = matches!(expression.kind, ExpressionKind::Cast | ExpressionKind::Other)
            || expression.operator == ","
            || expression.kind == ExpressionKind::Conditional;
        let is_tested = matches!(condition.emission, Emission::Branch | Emission::Select);
        if joined[index] == Joined::Dead && is_tested && may_end_logical {
            explained.push(Some(index));
        }
        let decision = &facts.decisions[condition.decision as usize];
        if decision.is_tested_whole && decision.conditions.last() == Some(&(index as u32)) {
            explained.push(None);
        }
    }
    if explained.len() == tests.len() {
        for (condition, event) in explained.into_iter().zip(tests) {
            if let Some(condition) = condition {
                joined[condition] = Joined::Event(event);
            }
        }
    }
}

fn without_event(condition: &ConditionFact) -> Joined {
    match condition.emission {
        _ if condition.constant.is_some() => Joined::Constant,
        Emission::Plain => Joined::Untested,
        Emission::Split => Joined::Split(Vec::new()),
        _ => Joined::Dead,
    }
}

/// The tests to expect, in emission order.
fn slots(facts: &FunctionFacts) -> Vec<Slot<'_>> {
    let mut slots: Vec<Slot> = Vec::new();
    for (index, condition) in facts.conditions.iter().enumerate() {
        let emission = condition.emission;
        match emission {
            Emission::Branch | Emission::Phi | Emission::Select => slots.push(Slot {
                condition: index,
                arm: None,
                place: condition.place,
                extent: &condition.extent,
                emission,
            }),
            Emission::Split => {
                // Arms that are logical operators have conditions of their own, already in the list; the others
                // go between them by position.
                let is_test = |arm: &ArmFact| arm.decision.is_none() && arm.constant.is_none();
                let simple = condition.arms.iter().enumerate().filter(|(_, arm)| is_test(arm));
                for (number, arm) in simple {
                    let is_later = |slot: &Slot| {
                        condition.extent.contains(slot.extent.start) && slot.extent.start > arm.extent.start
                    };
                    let at = slots.iter().position(is_later).unwrap_or(slots.len());
                    let emission = Emission::Branch;
                    let slot = Slot {
                        condition: index,
                        arm: Some(number),
                        place: arm.place,
                        extent: &arm.extent,
                        emission,
                    };
                    slots.insert(at, slot);
                }
            }
            Emission::Plain | Emission::Absent => {}
        }
    }
    slots
}

fn fits_kind(event: &Event, emission: Emission) -> bool {
    match event.kind {
        EventKind::Value { .. } => emission == Emission::Phi,
        EventKind::Branch { .. } => matches!(emission, Emission::Branch | Emission::Select),
        EventKind::Select { .. } => emission == Emission::Select,
    }
}

/// The score of a pair at exactly the place debug information is expected to name.
const EXACT: u32 = 3;

fn place_score(
    event: &Event,
    slot: &Slot,
    facts: &FunctionFacts,
    file_of: &dyn Fn(u32) -> Option<u32>,
) -> u32 {
    let Some(place) = event.place else { return 0 };
    let same = |other: Place| {
        file_of(other.file) == Some(place.file) && (other.line, other.column) == (place.line, place.column)
    };
    if same(slot.place) {
        return EXACT;
    }
    let expression = &facts.expressions[facts.conditions[slot.condition].expression as usize];
    if slot.arm.is_none() && same(expression.place) {
        return 2;
    }
    let at = (place.line, place.column);
    let (start, end) = (slot.extent.start, slot.extent.end);
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
/// of order, but one test and one event that fit only each other belong together.
fn join_out_of_order(
    n_events: usize,
    slots: &[Slot],
    score: impl Fn(usize, usize) -> u32,
    event_of: &mut [Option<usize>],
) {
    let free_events: Vec<usize> = (0..n_events).filter(|event| !event_of.contains(&Some(*event))).collect();
    for slot in 0..slots.len() {
        if event_of[slot].is_some() {
            continue;
        }
        let mut fitting = free_events.iter().filter(|event| score(**event, slot) == EXACT);
        let (Some(event), None) = (fitting.next(), fitting.next()) else { continue };
        if slots.iter().filter(|other| other.place == slots[slot].place).count() == 1 {
            event_of[slot] = Some(*event);
        }
    }
}

/// Which tests stand at a place that has several, not equally many on both sides.
fn ambiguous(
    events: &[Event],
    slots: &[Slot],
    file_of: &dyn Fn(u32) -> Option<u32>,
    event_of: &[Option<usize>],
) -> Vec<bool> {
    let mut slots_at: BTreeMap<(Place, bool), Vec<usize>> = BTreeMap::new();
    for (index, slot) in slots.iter().enumerate() {
        slots_at.entry((slot.place, slot.emission == Emission::Phi)).or_default().push(index);
    }
    let mut ambiguous = vec![false; slots.len()];
    for ((place, is_phi), here) in slots_at.into_iter().filter(|(_, here)| here.len() > 1) {
        let is_here = |event: &&Event| {
            event.role == Role::Test
                && matches!(event.kind, EventKind::Value { .. }) == is_phi
                && event.place.is_some_and(|at| {
                    (Some(at.file), at.line, at.column) == (file_of(place.file), place.line, place.column)
                })
        };
        let n_events = events.iter().filter(is_here).count();
        let n_joined = here.iter().filter(|index| event_of[**index].is_some()).count();
        if n_joined > 0 && (n_joined != here.len() || n_events > n_joined) {
            here.into_iter().for_each(|index| ambiguous[index] = true);
        }
    }
    ambiguous
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
