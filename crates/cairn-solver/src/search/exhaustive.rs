//! Every candidate there is, where there are few.

use super::problem::{Problem, Touch};

/// What trying everything told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// The candidate in place satisfies everything.
    Found,
    /// No candidate does.
    Refuted,
    /// Work or time ran out.
    Unfinished,
}

/// How many candidates there are; none if that is more than can be counted.
pub fn n_candidates(problem: &Problem<'_>) -> Option<u64> {
    (0..problem.n_slots())
        .try_fold(1u64, |product, slot| product.checked_mul(problem.domain(slot).values().len() as u64))
}

/// Tries all of them, the last byte fastest.
pub fn try_everything(problem: &mut Problem<'_>) -> Exhausted {
    let touches: Vec<Touch> = (0..problem.n_slots()).map(|slot| problem.touch(vec![slot])).collect();
    let first: Vec<u8> =
        (0..problem.n_slots()).filter_map(|slot| problem.domain(slot).values().first().copied()).collect();
    if first.len() < problem.n_slots() {
        return Exhausted::Refuted;
    }
    problem.restore(&first);
    let mut places = vec![0; first.len()];
    loop {
        if problem.is_solved() {
            return Exhausted::Found;
        }
        if problem.is_spent() {
            return Exhausted::Unfinished;
        }
        let mut slot = places.len();
        loop {
            let Some(next) = slot.checked_sub(1) else { return Exhausted::Refuted };
            slot = next;
            places[slot] = (places[slot] + 1) % problem.domain(slot).values().len();
            let value = problem.domain(slot).values()[places[slot]];
            problem.set(slot, value);
            problem.evaluate(&touches[slot]);
            if places[slot] != 0 {
                break;
            }
        }
    }
}
