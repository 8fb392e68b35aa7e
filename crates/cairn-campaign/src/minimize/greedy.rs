//! A good cover, quickly.

use super::{
    bit_set::BitSet,
    problem::{Problem, State},
};

/// A cover of what is left in `part`: always the input that adds most, then exchanges of one input for several, as long as
/// `goes_on`. No input of it can be spared.
pub(super) fn cover(problem: &Problem, part: &State, goes_on: &mut dyn FnMut() -> bool) -> Vec<usize> {
    let mut left = part.elements.clone();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        // Of equals the last maximum wins, which is the earliest input.
        let inputs: Vec<usize> = part.inputs.iter().collect();
        let best = inputs.into_iter().rev().max_by_key(|input| problem.inputs[*input].n_both(&left));
        let best = best.expect("what is left can be covered");
        chosen.push(best);
        left.subtract(&problem.inputs[best]);
    }
    drop_superfluous(problem, &part.elements, &mut chosen);
    while exchange(problem, part, &mut chosen, goes_on) {}
    chosen
}

/// What each of `chosen` alone covers of `elements`.
fn covered_alone(problem: &Problem, elements: &BitSet, chosen: &[usize]) -> Vec<BitSet> {
    let (mut once, mut more) = (BitSet::default(), BitSet::default());
    for input in chosen {
        let mut again = problem.inputs[*input].clone();
        again.intersect(&once);
        more.add(&again);
        once.add(&problem.inputs[*input]);
    }
    let alone = |input: &usize| {
        let mut alone = problem.inputs[*input].clone();
        alone.intersect(elements);
        alone.subtract(&more);
        alone
    };
    chosen.iter().map(alone).collect()
}

/// Drops inputs that the others make superfluous, those that cover least first.
fn drop_superfluous(problem: &Problem, elements: &BitSet, chosen: &mut Vec<usize>) {
    let mut order = chosen.clone();
    order.sort_by_key(|input| (problem.inputs[*input].n_both(elements), std::cmp::Reverse(*input)));
    for candidate in order {
        let position =
            chosen.iter().position(|input| *input == candidate).expect("candidates are dropped once");
        if covered_alone(problem, elements, chosen)[position].is_empty() {
            chosen.remove(position);
        }
    }
}

/// Adds an input that makes two or more others superfluous, if there is one.
fn exchange(
    problem: &Problem,
    part: &State,
    chosen: &mut Vec<usize>,
    goes_on: &mut dyn FnMut() -> bool,
) -> bool {
    let alone = covered_alone(problem, &part.elements, chosen);
    for input in part.inputs.iter().filter(|input| !chosen.contains(input)) {
        if !goes_on() {
            return false;
        }
        // Those whose own elements the input covers; together they may cover more than each alone.
        if alone.iter().filter(|alone| alone.is_subset(&problem.inputs[input])).count() < 2 {
            continue;
        }
        let mut exchanged = chosen.clone();
        exchanged.push(input);
        drop_superfluous(problem, &part.elements, &mut exchanged);
        if exchanged.len() < chosen.len() {
            *chosen = exchanged;
            return true;
        }
    }
    false
}
