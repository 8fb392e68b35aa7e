//! The fewest inputs that are together as good as all.

use super::{bit_set::BitSet, problem::Problem, search};
use std::collections::BTreeMap;

/// An input, as far as its place in a set is concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverer {
    /// What it covers.
    pub elements: BitSet,
    /// What having it costs, such as its size: of inputs that are equally good the cheaper is taken.
    pub cost: u64,
}

/// Inputs that cover everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// Their positions, in order.
    pub inputs: Vec<usize>,
    /// No cover has fewer.
    pub at_least: usize,
    /// Whether there may be a smaller one.
    pub proof: Proof,
}

/// What is known about the number of inputs in a cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// No cover has fewer.
    Smallest,
    /// There may be one with fewer: the search was ended.
    Ended {
        /// After it had looked at so many states.
        n_states: u64,
    },
}

/// The smallest subset of `inputs` that covers whatever all of them cover.
///
/// The number of inputs comes first. Of covers with as few inputs a cheap one is taken: none of its inputs can be exchanged
/// for a single cheaper one. The search goes on as long as `goes_on`, which is asked about every step; when it ends, the
/// answer is a small cover, of which no input can be spared. The same inputs give the same answer, of equals the earlier.
pub fn smallest_cover(inputs: &[Coverer], goes_on: &mut dyn FnMut() -> bool) -> Cover {
    let (problem, positions) = distinct(inputs);
    let mut state = problem.start();
    assert!(state.reduce(&problem), "every element comes from an input");
    let mut chosen = std::mem::take(&mut state.chosen);
    let (mut at_least, mut n_states) = (chosen.len(), 0);
    for part in problem.parts(&state) {
        let (small, inputs) = problem.part(&part);
        let found = search::cover(&small, &small.start(), goes_on);
        at_least += found.at_least;
        n_states += found.n_states;
        chosen.extend(found.chosen.into_iter().map(|input| inputs[input]));
    }
    make_cheaper(&problem, &mut chosen);
    let proof = if chosen.len() == at_least { Proof::Smallest } else { Proof::Ended { n_states } };
    let mut inputs: Vec<usize> = chosen.into_iter().map(|input| positions[input]).collect();
    inputs.sort_unstable();
    Cover { inputs, at_least, proof }
}

/// The problem without inputs and elements that equal another, cheap inputs first, and where its inputs come from.
fn distinct(inputs: &[Coverer]) -> (Problem, Vec<usize>) {
    let mut positions: Vec<usize> = (0..inputs.len()).collect();
    positions.sort_by_key(|position| inputs[*position].cost);
    let mut known = std::collections::BTreeSet::new();
    positions.retain(|position| known.insert(inputs[*position].elements.key()));
    // Elements with the same inputs are one.
    let mut coverers: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (input, position) in positions.iter().enumerate() {
        for element in inputs[*position].elements.iter() {
            coverers.entry(element).or_default().push(input as u32);
        }
    }
    let distinct: std::collections::BTreeSet<Vec<u32>> = coverers.into_values().collect();
    let mut elements = vec![BitSet::default(); positions.len()];
    for (element, coverers) in distinct.iter().enumerate() {
        coverers.iter().for_each(|input| {
            elements[*input as usize].insert(element);
        });
    }
    (Problem::new(elements, distinct.len()), positions)
}

/// Exchanges inputs for cheaper ones, which come earlier, as long as everything stays covered.
fn make_cheaper(problem: &Problem, chosen: &mut [usize]) {
    let mut n_coverers = vec![0u32; problem.elements.len()];
    for element in chosen.iter().flat_map(|input| problem.inputs[*input].iter()) {
        n_coverers[element] += 1;
    }
    loop {
        let mut has_changed = false;
        for index in 0..chosen.len() {
            let dearer = chosen[index];
            let covered = &problem.inputs[dearer];
            let alone: BitSet = covered.iter().filter(|element| n_coverers[*element] == 1).collect();
            let fits = |input: &usize| alone.is_subset(&problem.inputs[*input]) && !chosen.contains(input);
            let Some(cheaper) = (0..dearer).find(fits) else { continue };
            covered.iter().for_each(|element| n_coverers[element] -= 1);
            problem.inputs[cheaper].iter().for_each(|element| n_coverers[element] += 1);
            chosen[index] = cheaper;
            has_changed = true;
        }
        if !has_changed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    fn coverers(inputs: &[(&[usize], u64)]) -> Vec<Coverer> {
        let coverer = |(elements, cost): &(&[usize], u64)| Coverer {
            elements: elements.iter().copied().collect(),
            cost: *cost,
        };
        inputs.iter().map(coverer).collect()
    }

    #[track_caller]
    fn check(inputs: &[(&[usize], u64)], expected: &[usize]) {
        let cover = smallest_cover(&coverers(inputs), &mut || true);
        let expected = Cover { inputs: expected.to_vec(), at_least: expected.len(), proof: Proof::Smallest };
        assert_eq!(cover, expected);
    }

    #[test]
    fn nothing_needs_nobody() {
        check(&[], &[]);
        check(&[(&[], 1), (&[], 1)], &[]);
    }

    #[test]
    fn of_equals_the_cheaper_stays_and_then_the_earlier() {
        check(&[(&[1, 2], 5), (&[1, 2], 5)], &[0]);
        check(&[(&[1, 2], 5), (&[1, 2], 4)], &[1]);
    }

    #[test]
    fn who_alone_covers_something_stays() {
        check(&[(&[1, 2, 3], 1), (&[3, 4], 1), (&[1], 1)], &[0, 1]);
    }

    #[test]
    fn a_cheaper_input_takes_the_place_of_a_dearer_one_that_is_not_needed_whole() {
        // The second covers all of the third, but 1 and 2 are covered anyway.
        check(&[(&[1, 2, 9], 1), (&[1, 2, 3], 100), (&[3], 1)], &[0, 2]);
    }

    #[test]
    fn two_beat_the_one_that_covers_most() {
        check(&[(&[2, 3, 4, 5], 1), (&[1, 2, 3], 1), (&[4, 5, 6], 1), (&[1], 1), (&[6], 1)], &[1, 2]);
    }

    /// Triples of the lines of a Steiner system: nothing is forced, nothing is dominated, greed is wrong.
    fn steiner(n_points: usize) -> Vec<Coverer> {
        let mut lines = Vec::new();
        for a in 0..n_points {
            for b in a + 1..n_points {
                // In the group of exclusive or, three points that sum to nothing are a line.
                let c = ((a + 1) ^ (b + 1)) - 1;
                if c > b && c < n_points {
                    lines.push([a, b, c]);
                }
            }
        }
        // Points cover lines.
        (0..n_points)
            .map(|point| {
                let through = lines.iter().enumerate().filter(|(_, line)| line.contains(&point));
                Coverer { elements: through.map(|(index, _)| index).collect(), cost: 1 }
            })
            .collect()
    }

    #[test]
    fn what_greed_gets_wrong_is_searched() {
        // Whatever meets all lines of these projective spaces leaves at most a cap: 15 - 8 points of the first, 31 - 16 of
        // the second.
        for (n_points, n_needed) in [(7, 3), (15, 7), (31, 15)] {
            let cover = smallest_cover(&steiner(n_points), &mut || true);
            assert_eq!((cover.inputs.len(), cover.proof), (n_needed, Proof::Smallest));
        }
    }

    #[test]
    fn a_search_that_is_ended_says_so_and_has_a_cover() {
        let mut n_steps = 0;
        let inputs = steiner(31);
        let cover = smallest_cover(&inputs, &mut || {
            n_steps += 1;
            n_steps < 3
        });
        assert!(matches!(cover.proof, Proof::Ended { .. }), "{cover:?}");
        assert!(cover.at_least <= 15 && cover.inputs.len() >= 15, "{cover:?}");
        assert_eq!(covered(&inputs, &cover.inputs), covered(&inputs, &(0..31).collect::<Vec<_>>()));
    }

    fn covered(inputs: &[Coverer], chosen: &[usize]) -> BitSet {
        let mut all = BitSet::default();
        chosen.iter().for_each(|input| all.add(&inputs[*input].elements));
        all
    }

    /// The size of the best cover, by trying all subsets.
    fn best(inputs: &[Coverer]) -> usize {
        let everyone: Vec<usize> = (0..inputs.len()).collect();
        let all = covered(inputs, &everyone);
        (0u32..1 << inputs.len())
            .filter(|subset| {
                let chosen: Vec<usize> =
                    everyone.iter().copied().filter(|index| subset >> index & 1 != 0).collect();
                covered(inputs, &chosen) == all
            })
            .map(u32::count_ones)
            .min()
            .expect("all of them cover all") as usize
    }

    fn some_inputs() -> impl Strategy<Value = Vec<Coverer>> {
        let coverer = (vec(0usize..14, 0..6), 0u64..4)
            .prop_map(|(elements, cost)| Coverer { elements: elements.into_iter().collect(), cost });
        vec(coverer, 0..11)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_subset_is_smaller_and_no_exchange_is_cheaper(inputs in some_inputs()) {
            let cover = smallest_cover(&inputs, &mut || true);
            let all = covered(&inputs, &(0..inputs.len()).collect::<Vec<_>>());
            prop_assert_eq!(covered(&inputs, &cover.inputs), all.clone());
            prop_assert_eq!(cover.inputs.len(), best(&inputs));
            prop_assert_eq!((cover.at_least, cover.proof), (cover.inputs.len(), Proof::Smallest));
            for index in 0..cover.inputs.len() {
                for other in 0..inputs.len() {
                    let mut exchanged = cover.inputs.clone();
                    exchanged[index] = other;
                    let is_cheaper = inputs[other].cost < inputs[cover.inputs[index]].cost;
                    prop_assert!(!is_cheaper || covered(&inputs, &exchanged) != all);
                }
            }
        }

        #[test]
        fn a_search_cut_short_gives_a_cover_and_a_bound(inputs in some_inputs(), n_allowed in 0u32..6) {
            let mut n_steps = 0;
            let cover = smallest_cover(&inputs, &mut || { n_steps += 1; n_steps <= n_allowed });
            let all = covered(&inputs, &(0..inputs.len()).collect::<Vec<_>>());
            prop_assert_eq!(covered(&inputs, &cover.inputs), all.clone());
            let best = best(&inputs);
            prop_assert!(cover.at_least <= best && best <= cover.inputs.len());
            prop_assert_eq!(cover.proof == Proof::Smallest, cover.at_least == cover.inputs.len());
            for spared in &cover.inputs {
                let rest: Vec<usize> = cover.inputs.iter().copied().filter(|input| input != spared).collect();
                prop_assert_ne!(covered(&inputs, &rest), all.clone());
            }
        }
    }
}
