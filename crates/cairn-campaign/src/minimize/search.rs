//! The best cover, by branch and bound.

use super::{
    greedy,
    problem::{Problem, State},
};

/// What a search found.
#[derive(Debug)]
pub(super) struct Found {
    /// A cover of the part.
    pub(super) chosen: Vec<usize>,
    /// No cover has fewer.
    pub(super) at_least: usize,
    /// States that were looked at.
    pub(super) n_states: u64,
}

/// Covers what is left in `part`, in the best way unless `goes_on` ends the search.
pub(super) fn cover(problem: &Problem, part: &State, goes_on: &mut dyn FnMut() -> bool) -> Found {
    let at_least = problem.bound(part);
    let best = greedy::cover(problem, part, goes_on);
    let mut search = Search { problem, best, goes_on, n_states: 0, has_ended: false };
    if search.best.len() > at_least {
        search.visit(part.clone());
    }
    let at_least = if search.has_ended { at_least } else { search.best.len() };
    Found { chosen: search.best, at_least, n_states: search.n_states }
}

struct Search<'a> {
    problem: &'a Problem,
    /// The best cover so far.
    best: Vec<usize>,
    goes_on: &'a mut dyn FnMut() -> bool,
    n_states: u64,
    has_ended: bool,
}

impl Search<'_> {
    /// Looks for covers that go on from `state` and are better than the best.
    fn visit(&mut self, mut state: State) {
        if self.has_ended || !(self.goes_on)() {
            self.has_ended = true;
            return;
        }
        self.n_states += 1;
        if !state.reduce(self.problem) {
            return;
        }
        if state.elements.is_empty() {
            if state.chosen.len() < self.best.len() {
                self.best = state.chosen;
            }
            return;
        }
        if state.chosen.len() + self.problem.bound(&state) >= self.best.len() {
            return;
        }
        let elements = &self.problem.elements;
        let rarest = state.elements.iter().min_by_key(|element| elements[*element].n_both(&state.inputs));
        let rarest = rarest.expect("something is left");
        let mut coverers: Vec<usize> = elements[rarest].both(&state.inputs).collect();
        coverers.sort_by_key(|input| std::cmp::Reverse(self.problem.inputs[*input].n_both(&state.elements)));
        // One of them is in every cover. Covers with the first are all looked at before covers without it.
        for input in coverers {
            let mut child = state.clone();
            child.choose(self.problem, input);
            self.visit(child);
            state.inputs.remove(input);
        }
    }
}
