//! What is to be covered, and what follows from that without a choice.

use super::bit_set::BitSet;

/// Which input covers which element, from both sides.
#[derive(Debug, Default)]
pub(super) struct Problem {
    /// The elements of each input. Of inputs that are equally good the earlier is preferred.
    pub(super) inputs: Vec<BitSet>,
    /// The inputs of each element.
    pub(super) elements: Vec<BitSet>,
}

impl Problem {
    /// Of inputs that cover these elements, out of `n_elements`.
    pub(super) fn new(inputs: Vec<BitSet>, n_elements: usize) -> Self {
        let mut elements = vec![BitSet::default(); n_elements];
        for (input, covered) in inputs.iter().enumerate() {
            for element in covered.iter() {
                elements[element].insert(input);
            }
        }
        Self { inputs, elements }
    }

    /// Nothing chosen yet.
    pub(super) fn start(&self) -> State {
        State {
            inputs: BitSet::below(self.inputs.len()),
            elements: BitSet::below(self.elements.len()),
            chosen: Vec::new(),
        }
    }

    /// At least so many more inputs are needed: the larger of two bounds.
    ///
    /// Price each element at one over the most elements that an input covers together with it. Then no input covers more
    /// than a price of 1, so the sum of all prices is a bound. And elements of which no input covers two need one input
    /// each.
    pub(super) fn bound(&self, state: &State) -> usize {
        let mut most = vec![1; self.elements.len()];
        for input in state.inputs.iter() {
            let n_covered = self.inputs[input].n_both(&state.elements);
            for element in self.inputs[input].both(&state.elements) {
                most[element] = n_covered.max(most[element]);
            }
        }
        // Elements of the same price are counted together and divided once: sums of fractions would not be exact.
        let mut n_by_most = std::collections::BTreeMap::<usize, usize>::new();
        for element in state.elements.iter() {
            *n_by_most.entry(most[element]).or_default() += 1;
        }
        let prices: f64 = n_by_most.iter().map(|(most, n)| *n as f64 / *most as f64).sum();
        let by_price = (prices - 1e-6).ceil().max(0.0) as usize;
        let mut rarest_first: Vec<usize> = state.elements.iter().collect();
        rarest_first.sort_by_key(|element| self.elements[*element].n_both(&state.inputs));
        let mut used = BitSet::default();
        let mut n_apart = 0;
        for element in rarest_first {
            if self.elements[element].both(&state.inputs).all(|input| !used.contains(input)) {
                used.extend(self.elements[element].both(&state.inputs));
                n_apart += 1;
            }
        }
        by_price.max(n_apart)
    }

    /// What is left in `state` as a problem of its own, and which inputs its inputs are.
    pub(super) fn part(&self, state: &State) -> (Self, Vec<usize>) {
        let inputs: Vec<usize> = state.inputs.iter().collect();
        let mut numbers = vec![0; self.elements.len()];
        state.elements.iter().enumerate().for_each(|(number, element)| numbers[element] = number);
        let covered = |input: &usize| -> BitSet {
            self.inputs[*input].both(&state.elements).map(|element| numbers[element]).collect()
        };
        (Self::new(inputs.iter().map(covered).collect(), state.elements.len()), inputs)
    }

    /// Takes `state` apart where nothing holds it together: no input covers elements of two parts.
    pub(super) fn parts(&self, state: &State) -> Vec<State> {
        let mut left = state.elements.clone();
        let mut parts = Vec::new();
        loop {
            let first = left.iter().next();
            let Some(first) = first else { return parts };
            let mut part = State::default();
            let mut pending = vec![first];
            left.remove(first);
            while let Some(element) = pending.pop() {
                part.elements.insert(element);
                for input in self.elements[element].both(&state.inputs) {
                    if part.inputs.insert(input) {
                        let met: Vec<usize> = self.inputs[input].both(&left).collect();
                        met.iter().for_each(|element| left.remove(*element));
                        pending.extend(met);
                    }
                }
            }
            parts.push(part);
        }
    }
}

/// How far a cover is.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Inputs that may still be chosen.
    pub(super) inputs: BitSet,
    /// Elements that are still to be covered.
    pub(super) elements: BitSet,
    /// Inputs that were chosen.
    pub(super) chosen: Vec<usize>,
}

impl State {
    /// Chooses an input.
    pub(super) fn choose(&mut self, problem: &Problem, input: usize) {
        self.chosen.push(input);
        self.inputs.remove(input);
        self.elements.subtract(&problem.inputs[input]);
    }

    /// Does what some smallest cover does too, until nothing follows any more: chooses inputs without which an element
    /// stays uncovered, forgets elements that are covered whenever another is, and inputs that are nowhere better than
    /// another. `false` if an element cannot be covered.
    pub(super) fn reduce(&mut self, problem: &Problem) -> bool {
        loop {
            let Some(has_chosen) = self.choose_forced(problem) else { return false };
            let has_dropped = self.drop_elements(problem) | self.drop_inputs(problem);
            if !has_chosen && !has_dropped {
                return true;
            }
        }
    }

    fn choose_forced(&mut self, problem: &Problem) -> Option<bool> {
        let mut has_chosen = false;
        for element in self.elements.clone().iter() {
            if !self.elements.contains(element) {
                continue;
            }
            let mut coverers = problem.elements[element].both(&self.inputs);
            let only = coverers.next()?;
            if coverers.next().is_none() {
                drop(coverers);
                self.choose(problem, only);
                has_chosen = true;
            }
        }
        Some(has_chosen)
    }

    /// Drops elements that each input covers which covers some other element.
    fn drop_elements(&mut self, problem: &Problem) -> bool {
        let sizes: Vec<usize> = problem.inputs.iter().map(|covered| covered.n_both(&self.elements)).collect();
        let mut has_dropped = false;
        for element in self.elements.clone().iter() {
            if !self.elements.contains(element) {
                continue;
            }
            let coverers = &problem.elements[element];
            let smallest = coverers.both(&self.inputs).min_by_key(|input| sizes[*input]);
            let Some(smallest) = smallest else { continue };
            let others: Vec<usize> = problem.inputs[smallest].both(&self.elements).collect();
            for other in others.into_iter().filter(|other| *other != element) {
                if coverers.is_subset_within(&self.inputs, &problem.elements[other]) {
                    self.elements.remove(other);
                    has_dropped = true;
                }
            }
        }
        has_dropped
    }

    /// Drops inputs all of whose elements some other input covers; of equals the earlier stays.
    fn drop_inputs(&mut self, problem: &Problem) -> bool {
        let n_coverers: Vec<usize> =
            problem.elements.iter().map(|coverers| coverers.n_both(&self.inputs)).collect();
        let mut has_dropped = false;
        for input in self.inputs.clone().iter() {
            let covered = &problem.inputs[input];
            let rarest = covered.both(&self.elements).min_by_key(|element| n_coverers[*element]);
            let is_superfluous = rarest.is_none_or(|rarest| {
                problem.elements[rarest].both(&self.inputs).any(|other| {
                    let other_covered = &problem.inputs[other];
                    other != input
                        && covered.is_subset_within(&self.elements, other_covered)
                        && (other < input || !other_covered.is_subset_within(&self.elements, covered))
                })
            });
            if is_superfluous {
                self.inputs.remove(input);
                has_dropped = true;
            }
        }
        has_dropped
    }
}
