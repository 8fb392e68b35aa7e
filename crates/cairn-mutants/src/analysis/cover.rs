//! The fewest inputs that are together as good as all.
//!
//! Each input covers elements: mutants it kills, branches it takes. Finding the smallest cover is hard in general, so
//! [`smallest_cover`] takes what is forced, then always the input that adds most, then drops whatever the others made
//! superfluous, and says how far from the best the answer can be at most: [`Cover::at_least`] inputs are needed in any
//! case.
//!
//! For kills this is as good as what is known: after a score that stops at the first kill of each mutant, only that
//! input is known to kill it. A full matrix gives smaller covers.

use std::collections::{BTreeMap, BTreeSet};

/// Inputs that cover everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cover {
    /// Their positions, in order.
    pub inputs: Vec<usize>,
    /// No cover has fewer.
    pub at_least: usize,
}

/// A small subset of `inputs`, given as the elements that each covers, that covers whatever all cover.
///
/// Among equals the earlier input is taken, so the same inputs always give the same answer.
pub fn smallest_cover(inputs: &[BTreeSet<u64>]) -> Cover {
    let mut coverers: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, elements) in inputs.iter().enumerate() {
        for element in elements {
            coverers.entry(*element).or_default().push(index);
        }
    }
    // Forced: what only one input covers.
    let forced: BTreeSet<usize> =
        coverers.values().filter(|inputs| inputs.len() == 1).map(|inputs| inputs[0]).collect();
    let mut chosen: Vec<usize> = forced.iter().copied().collect();
    let mut left: BTreeSet<u64> = coverers.keys().copied().collect();
    for index in &chosen {
        left.retain(|element| !inputs[*index].contains(element));
    }
    let at_least = chosen.len() + lower_bound(inputs, &coverers, &left);
    while !left.is_empty() {
        let gain = |index: &usize| inputs[*index].iter().filter(|element| left.contains(element)).count();
        let best = (0..inputs.len()).rev().max_by_key(gain).expect("something is left for some input");
        chosen.push(best);
        left.retain(|element| !inputs[best].contains(element));
    }
    drop_superfluous(inputs, &forced, &mut chosen);
    chosen.sort_unstable();
    Cover { inputs: chosen, at_least }
}

/// Drops inputs whose elements the others cover, those with the fewest elements first.
fn drop_superfluous(inputs: &[BTreeSet<u64>], forced: &BTreeSet<usize>, chosen: &mut Vec<usize>) {
    let mut times: BTreeMap<u64, usize> = BTreeMap::new();
    for element in chosen.iter().flat_map(|index| &inputs[*index]) {
        *times.entry(*element).or_default() += 1;
    }
    let mut candidates: Vec<usize> = chosen.iter().copied().filter(|index| !forced.contains(index)).collect();
    candidates.sort_by_key(|index| (inputs[*index].len(), std::cmp::Reverse(*index)));
    for candidate in candidates {
        if inputs[candidate].iter().all(|element| times[element] > 1) {
            for element in &inputs[candidate] {
                *times.get_mut(element).expect("every element was counted") -= 1;
            }
            chosen.retain(|index| *index != candidate);
        }
    }
}

/// How many inputs the elements in `left` need at least: the larger of two bounds.
///
/// Price each element at one over the most elements that an input covers together with it. Then no input covers more
/// than a price of 1, so the sum of all prices is a bound. And elements of which no input covers two need one input each.
fn lower_bound(
    inputs: &[BTreeSet<u64>],
    coverers: &BTreeMap<u64, Vec<usize>>,
    left: &BTreeSet<u64>,
) -> usize {
    let sizes: Vec<usize> = inputs
        .iter()
        .map(|elements| elements.iter().filter(|element| left.contains(element)).count())
        .collect();
    // Elements of the same price are counted together and divided once: sums of fractions would not be exact.
    let mut n_by_most: BTreeMap<usize, usize> = BTreeMap::new();
    for element in left {
        let most = coverers[element].iter().map(|index| sizes[*index]).max().unwrap_or(1);
        *n_by_most.entry(most).or_default() += 1;
    }
    let prices: f64 = n_by_most.iter().map(|(most, n)| *n as f64 / *most as f64).sum();
    let by_price = (prices - 1e-6).ceil().max(0.0) as usize;
    let mut rarest_first: Vec<&u64> = left.iter().collect();
    rarest_first.sort_by_key(|element| coverers[element].len());
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut n_apart = 0;
    for element in rarest_first {
        let inputs = &coverers[element];
        if inputs.iter().all(|index| !used.contains(index)) {
            used.extend(inputs);
            n_apart += 1;
        }
    }
    by_price.max(n_apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sets(inputs: &[&[u64]]) -> Vec<BTreeSet<u64>> {
        inputs.iter().map(|elements| elements.iter().copied().collect()).collect()
    }

    fn check(inputs: &[&[u64]], expected: &[usize], at_least: usize) {
        let cover = smallest_cover(&sets(inputs));
        assert_eq!(cover, Cover { inputs: expected.to_vec(), at_least });
    }

    #[test]
    fn nothing_needs_nobody() {
        check(&[], &[], 0);
        check(&[&[], &[]], &[], 0);
    }

    #[test]
    fn of_equals_the_earlier_stays() {
        check(&[&[1, 2], &[1, 2]], &[0], 1);
    }

    #[test]
    fn who_alone_covers_something_stays() {
        check(&[&[1, 2, 3], &[3, 4], &[1]], &[0, 1], 2);
    }

    #[test]
    fn the_greedy_choice_is_dropped_when_others_made_it_superfluous() {
        // The first is largest and taken first; the two that follow cover all of it.
        check(&[&[2, 3, 4, 5], &[1, 2, 3], &[4, 5, 6], &[1, 2, 3], &[4, 5, 6]], &[1, 2], 2);
    }

    /// The size of the best cover, by trying all subsets.
    fn best(inputs: &[BTreeSet<u64>]) -> usize {
        let all: BTreeSet<u64> = inputs.iter().flatten().copied().collect();
        (0u32..1 << inputs.len())
            .filter(|subset| {
                let covered: BTreeSet<u64> = (0..inputs.len())
                    .filter(|index| subset >> index & 1 != 0)
                    .flat_map(|index| inputs[index].iter().copied())
                    .collect();
                covered == all
            })
            .map(u32::count_ones)
            .min()
            .expect("all of them cover all") as usize
    }

    proptest! {
        #[test]
        fn the_best_cover_lies_between_the_bound_and_the_answer(
            inputs in proptest::collection::vec(proptest::collection::btree_set(0u64..12, 0..6), 0..8)
        ) {
            let cover = smallest_cover(&inputs);
            let all: BTreeSet<u64> = inputs.iter().flatten().copied().collect();
            let covered: BTreeSet<u64> = cover.inputs.iter().flat_map(|index| inputs[*index].clone()).collect();
            prop_assert_eq!(&covered, &all);
            let best = best(&inputs);
            prop_assert!(cover.at_least <= best, "{} <= {}", cover.at_least, best);
            prop_assert!(best <= cover.inputs.len());
            // No input of the answer can be spared.
            for spared in &cover.inputs {
                let rest: BTreeSet<u64> = cover
                    .inputs
                    .iter()
                    .filter(|index| *index != spared)
                    .flat_map(|index| inputs[*index].clone())
                    .collect();
                prop_assert_ne!(&rest, &all);
            }
        }
    }
}
