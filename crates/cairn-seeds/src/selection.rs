//! Templates, and which of them are chosen.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    hash::{BuildHasher, RandomState},
    str::FromStr,
};

/// Which of the candidates with one template stands for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pick {
    /// Any of them, as in the paper.
    Random,
    /// The cheapest.
    #[default]
    Cheapest,
}

impl FromStr for Pick {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "random" => Ok(Self::Random),
            "cheapest" => Ok(Self::Cheapest),
            _ => Err(format!("`{name}` is no way to pick; there are `random` and `cheapest`")),
        }
    }
}

/// Candidates by what they cover. Of those that cover the same one is kept, so this grows with what a program can do, and not with how
/// often it did it.
#[derive(Debug)]
pub struct Selection<T> {
    pick: Pick,
    templates: Vec<Template<T>>,
    /// Templates by the hash of their elements.
    known: HashMap<u64, Vec<u32>>,
    hasher: RandomState,
    /// Whether an element was covered.
    covered: Vec<bool>,
    n_covered: usize,
}

/// What some candidates cover, and one of them.
#[derive(Clone, Debug)]
pub struct Template<T> {
    /// In order.
    pub elements: Box<[u32]>,
    /// The candidate that stands for it.
    pub candidate: T,
    /// What it costs.
    pub cost: u64,
    /// How many candidates have it.
    pub n_candidates: u64,
}

/// What came of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// Whether it is the first with its template.
    pub is_new_template: bool,
    /// How many of its elements none covered before.
    pub n_new: usize,
}

/// A template that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Its place among all.
    pub index: usize,
    /// Elements that none chosen before it covers.
    pub new: Vec<u32>,
}

impl<T> Selection<T> {
    /// Without candidates.
    pub fn new(pick: Pick) -> Self {
        Self {
            pick,
            templates: Vec::new(),
            known: HashMap::new(),
            hasher: RandomState::new(),
            covered: Vec::new(),
            n_covered: 0,
        }
    }

    /// Adds a candidate that covers `elements`, which are in order.
    pub fn add(&mut self, elements: &[u32], cost: u64, candidate: T, random: &mut fastrand::Rng) -> Added {
        debug_assert!(elements.is_sorted());
        let same = self.known.entry(self.hasher.hash_one(elements)).or_default();
        if let Some(index) = same.iter().find(|index| *self.templates[**index as usize].elements == *elements)
        {
            let template = &mut self.templates[*index as usize];
            template.n_candidates += 1;
            let is_picked = match self.pick {
                Pick::Random => random.u64(..template.n_candidates) == 0,
                Pick::Cheapest => cost < template.cost,
            };
            if is_picked {
                (template.candidate, template.cost) = (candidate, cost);
            }
            return Added { is_new_template: false, n_new: 0 };
        }
        same.push(self.templates.len() as u32);
        let n_elements = elements.last().map_or(0, |last| *last as usize + 1);
        self.covered.resize(self.covered.len().max(n_elements), false);
        let n_before = self.n_covered;
        for element in elements {
            self.n_covered += usize::from(!std::mem::replace(&mut self.covered[*element as usize], true));
        }
        self.templates.push(Template { elements: elements.into(), candidate, cost, n_candidates: 1 });
        Added { is_new_template: true, n_new: self.n_covered - n_before }
    }

    /// All templates, in the order in which they were met.
    pub fn templates(&self) -> &[Template<T>] {
        &self.templates
    }

    /// How many elements are covered.
    pub fn n_covered(&self) -> usize {
        self.n_covered
    }

    /// All templates, each for everything it covers.
    pub fn all(&self) -> Vec<Chosen> {
        let chosen =
            |(index, template): (usize, &Template<T>)| Chosen { index, new: template.elements.to_vec() };
        self.templates.iter().enumerate().map(chosen).collect()
    }

    /// Templates that cover everything that all do: again and again the one that covers most of what is left. What the later ones have made
    /// superfluous is left out. If nothing is covered, one candidate is still better than none.
    pub fn choose(&self) -> Vec<Chosen> {
        let chosen = self.without_superfluous(&self.greedy());
        if chosen.is_empty() && !self.templates.is_empty() {
            return vec![Chosen { index: 0, new: Vec::new() }];
        }
        let mut is_left = self.covered.clone();
        let mut take = |index: usize| {
            let elements = self.templates[index].elements.iter();
            let new = elements.filter(|element| std::mem::take(&mut is_left[**element as usize])).copied();
            Chosen { index, new: new.collect() }
        };
        chosen.into_iter().map(&mut take).collect()
    }

    /// Algorithm 1 of the paper. What a template adds only becomes less, so it is counted again only when it comes up.
    fn greedy(&self) -> Vec<usize> {
        let mut is_left = self.covered.clone();
        let mut n_left = self.n_covered;
        let rank = |n_new: usize, index: usize| (n_new, Reverse((self.templates[index].cost, index)));
        let mut queue: BinaryHeap<_> = (0..self.templates.len())
            .map(|index| rank(self.templates[index].elements.len(), index))
            .collect();
        let mut chosen = Vec::new();
        while n_left > 0 {
            let Some((n_new, Reverse((_, index)))) = queue.pop() else { break };
            let elements = &self.templates[index].elements;
            let n_now = elements.iter().filter(|element| is_left[**element as usize]).count();
            if n_now < n_new {
                queue.push(rank(n_now, index));
                continue;
            }
            elements.iter().for_each(|element| is_left[*element as usize] = false);
            n_left -= n_now;
            chosen.push(index);
        }
        chosen
    }

    fn without_superfluous(&self, chosen: &[usize]) -> Vec<usize> {
        let mut n_covering = vec![0u32; self.covered.len()];
        let elements = |index: usize| self.templates[index].elements.iter().map(|element| *element as usize);
        chosen.iter().flat_map(|index| elements(*index)).for_each(|element| n_covering[element] += 1);
        let mut kept = Vec::new();
        // The first ones cover most, so the last ones go first.
        for index in chosen.iter().rev() {
            match elements(*index).all(|element| n_covering[element] > 1) {
                true => elements(*index).for_each(|element| n_covering[element] -= 1),
                false => kept.push(*index),
            }
        }
        kept.reverse();
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn selection(templates: &[&[u32]]) -> Selection<usize> {
        let mut random = fastrand::Rng::with_seed(1);
        let mut selection = Selection::new(Pick::Cheapest);
        for (number, elements) in templates.iter().enumerate() {
            selection.add(elements, 1, number, &mut random);
        }
        selection
    }

    fn chosen(templates: &[&[u32]]) -> Vec<usize> {
        let selection = selection(templates);
        selection.choose().iter().map(|chosen| selection.templates()[chosen.index].candidate).collect()
    }

    #[test]
    fn what_covers_most_of_the_rest_is_chosen_next() {
        assert_eq!(chosen(&[&[0, 1], &[0, 1, 2], &[3], &[2, 3]]), [1, 2]);
        assert_eq!(chosen(&[&[0, 1, 2], &[3, 4], &[0, 1, 2, 3]]), [2, 1]);
    }

    /// Greedily 0 comes first, and then both others are needed all the same.
    #[test]
    fn what_became_superfluous_is_left_out() {
        assert_eq!(chosen(&[&[1, 2, 3, 4], &[0, 1, 2], &[3, 4, 5]]), [1, 2]);
    }

    #[test]
    fn one_candidate_is_better_than_none() {
        assert_eq!(chosen(&[&[]]), [0]);
        assert_eq!(chosen(&[]), [0; 0]);
    }

    #[test]
    fn alike_candidates_are_kept_once_and_counted() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut selection = Selection::new(Pick::Cheapest);
        assert_eq!(selection.add(&[1, 4], 7, 'a', &mut random), Added { is_new_template: true, n_new: 2 });
        assert_eq!(selection.add(&[1, 4], 3, 'b', &mut random), Added { is_new_template: false, n_new: 0 });
        assert_eq!(selection.add(&[1, 4], 5, 'c', &mut random), Added { is_new_template: false, n_new: 0 });
        let [template] = selection.templates() else { panic!("there is one") };
        assert_eq!((template.candidate, template.cost, template.n_candidates), ('b', 3, 3));
    }

    #[test]
    fn picked_at_random_each_stands_as_often() {
        let mut n_picked = [0; 4];
        for seed in 0..4000 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut selection = Selection::new(Pick::Random);
            (0..4).for_each(|candidate| {
                selection.add(&[1], 0, candidate, &mut random);
            });
            n_picked[selection.templates()[0].candidate as usize] += 1;
        }
        assert!(n_picked.iter().all(|n| (800..1200).contains(n)), "{n_picked:?}");
    }

    proptest! {
        #[test]
        fn the_chosen_cover_what_all_cover(sets in prop::collection::vec(prop::collection::btree_set(0u32..40, 0..12), 1..60)) {
            let lists: Vec<Vec<u32>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
            let selection = selection(&lists.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let all: BTreeSet<u32> = sets.iter().flatten().copied().collect();
            let chosen = selection.choose();
            let covered: BTreeSet<u32> =
                chosen.iter().flat_map(|chosen| selection.templates()[chosen.index].elements.to_vec()).collect();
            prop_assert_eq!(&covered, &all);
            prop_assert_eq!(selection.n_covered(), all.len());
            // Each is there for something, which is told once.
            let told: Vec<u32> = chosen.iter().flat_map(|chosen| chosen.new.clone()).collect();
            prop_assert_eq!(told.iter().copied().collect::<BTreeSet<_>>(), all.clone());
            prop_assert_eq!(told.len(), all.len());
            prop_assert!(all.is_empty() || chosen.iter().all(|chosen| !chosen.new.is_empty()));
        }
    }
}
