//! Conditions mended by undoing operations, inside the search.
//!
//! After a variable was moved, an equation that broke is mended by inversion: with `x + y == 10`, moving `x` moves `y`
//! along. That is how the search walks along equations instead of bouncing off them.

use super::{
    problem::{Problem, Touch},
    random::Random,
    variable::{Kind, Variable},
};
use crate::inversion::{Demand, Inversion};
use cairn_expr::{ExprId, InputByte};

/// Conditions mended after one move.
const MAX_ROUNDS: usize = 4;

/// Assignments tried for one condition.
const MAX_TRIES: usize = 6;

/// Steps from operation to operation.
const MAX_STEPS: usize = 400;

/// Mends broken conditions one after the other, leaving the slots of `kept` alone. Whether everything holds then.
/// The candidate is left where mending led.
pub fn mend(problem: &mut Problem<'_>, kept: &[usize]) -> bool {
    let mut settled: Vec<usize> = kept.to_vec();
    for _ in 0..MAX_ROUNDS {
        let Some(broken) = problem.broken().next() else { return true };
        if problem.is_spent() || !mend_one(problem, broken, &mut settled) {
            return false;
        }
    }
    problem.is_solved()
}

/// Mends one condition; its bytes are settled then.
fn mend_one(problem: &mut Problem<'_>, broken: ExprId, settled: &mut Vec<usize>) -> bool {
    let mut inversion = Inversion::new(Demand::whole(problem.dag, broken, 1), MAX_STEPS);
    let mut best: Option<(f64, Vec<(usize, u8)>)> = None;
    for _ in 0..MAX_TRIES {
        let next = {
            let shared = &*problem;
            let allowed = |byte: InputByte, value: u8| {
                let slot = shared.slot(byte);
                shared.domain(slot).contains(value)
                    && (shared.bytes()[slot] == value || !settled.contains(&slot))
            };
            inversion.next(shared.dag, &mut |id| shared.value(id), &allowed)
        };
        let Some(assignment) = next else { break };
        let changes: Vec<(usize, u8)> =
            assignment.into_iter().map(|(byte, value)| (problem.slot(byte), value)).collect();
        let touch = problem.touch(changes.iter().map(|(slot, _)| *slot).collect());
        let before = apply(problem, &touch, &changes);
        let holds = problem.value(broken) == 1;
        let distance = problem.total();
        if holds && best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, changes));
        }
        apply(problem, &touch, &before);
        if distance == 0.0 {
            break;
        }
    }
    let Some((_, changes)) = best else { return false };
    let touch = problem.touch(changes.iter().map(|(slot, _)| *slot).collect());
    apply(problem, &touch, &changes);
    settled.extend(touch.slots);
    true
}

/// Changes bytes, evaluates, and returns what they were.
fn apply(problem: &mut Problem<'_>, touch: &Touch, changes: &[(usize, u8)]) -> Vec<(usize, u8)> {
    let before = changes.iter().map(|(slot, _)| (*slot, problem.bytes()[*slot])).collect();
    for (slot, value) in changes {
        problem.set(*slot, *value);
    }
    problem.evaluate(touch);
    before
}

/// Moves a variable at random, mends, and keeps the result if it is better. Whether it was.
pub fn move_and_mend(
    problem: &mut Problem<'_>,
    variable: &Variable,
    numbers: &[f64],
    random: &mut Random,
) -> bool {
    let start = problem.bytes().to_vec();
    let before = problem.total();
    let bits = variable.bits(problem);
    let moved = match variable.kind {
        Kind::Float if random.below(2) == 0 => variable.bits_of(*random.choose(numbers)),
        Kind::Float if random.below(2) == 0 => {
            let step = f64::powi(2.0, random.below(24) as i32 - 12);
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            variable.bits_of(variable.number(bits) + sign * step)
        }
        _ => {
            let step = 1i64 << random.below(variable.reach(problem) as usize + 1).min(62);
            variable.moved(problem, bits, if random.below(2) == 0 { step } else { -step })
        }
    };
    variable.try_bits(problem, moved);
    mend(problem, &variable.touch.slots);
    if problem.total() < before {
        return true;
    }
    problem.restore(&start);
    false
}
