//! Inputs that are worth changing, and which of them is changed next.
//!
//! For every counter the *cheapest* input that hits it is known: the one with the smallest product of steps and size. As
//! few of these as cover all counters are *favoured*, and most of the time goes to them. Those that were never chosen come first; among the others chance decides, and weighs what is rare: an input whose way is also that of many others'
//! is worth less than one whose way hardly anything takes, as in AFLFast
//! ([Böhme et al., 2016](https://doi.org/10.1145/2976749.2978428)). How often ways are taken is known from a sample of all
//! runs.
//!
//! What else inputs are good for is told by *marks*, numbers that no counter has. Likewise the cheapest inputs with them are known,
//! and are chosen apart, so that marks take nothing from coverage but what they are given.

mod energy;
mod rarity;
mod seed;

pub use self::seed::Seed;
pub(crate) use self::{rarity::Rarity, seed::way};

use self::energy::Averages;
use crate::{chooser::Chooser, random::Random};
use cairn_model::Input;
use cairn_strategy::EntryId;
use std::collections::{BTreeSet, HashMap};

/// Inputs that are worth changing.
#[derive(Default)]
pub(crate) struct Queue {
    seeds: Vec<Seed>,
    /// The cheapest seed by counter or mark.
    cheapest: HashMap<u32, u32>,
    /// Marks have numbers from here on; `None` where there are no marks.
    first_mark: Option<u32>,
    /// As few seeds as have all marks.
    marked: Vec<u32>,
    /// How often ways were seen in sampled runs, by signature.
    frequencies: HashMap<u64, u32>,
    /// Favoured seeds that were never chosen, last first.
    fresh: Vec<u32>,
    chooser: Chooser,
    averages: Averages,
    n_since_renewal: u32,
    is_changed: bool,
}

/// Weights change after so many choices.
const RENEWAL: u32 = 64;

/// How much less a seed counts that is not favoured.
const UNFAVOURED: f64 = 1.0 / 16.0;

/// How much a seed is worth beside what the queue knows of it: 1 is usual.
pub(crate) type Score<'a> = &'a dyn Fn(&Seed) -> f64;

impl Queue {
    /// An empty queue whose marks have numbers from `first_mark` on.
    pub(crate) fn with_marks(first_mark: u32) -> Self {
        Self { first_mark: Some(first_mark), ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.seeds.len()
    }

    pub(crate) fn seed(&self, index: usize) -> &Seed {
        &self.seeds[index]
    }

    /// Another input than that of a seed, if there is one.
    pub(crate) fn donor(&self, seed: usize, random: &mut Random) -> Option<&Input> {
        let other = random.below(self.seeds.len());
        (other != seed).then(|| self.seeds[other].input())
    }

    /// Adds a seed and returns its place.
    pub(crate) fn add(&mut self, seed: Seed) -> usize {
        let index = self.seeds.len();
        for good in seed.goods() {
            let cheapest = self.cheapest.entry(good).or_insert(index as u32);
            if seed.cost() < self.seeds.get(*cheapest as usize).map_or(u128::MAX, Seed::cost) {
                *cheapest = index as u32;
            }
        }
        self.seeds.push(seed);
        self.is_changed = true;
        index
    }

    /// Adds marks to a seed.
    pub(crate) fn mark(&mut self, index: usize, marks: &[u32]) {
        self.seeds[index].mark(marks);
        let cost = self.seeds[index].cost();
        for mark in marks {
            let cheapest = self.cheapest.entry(*mark).or_insert(index as u32);
            if cost < self.seeds[*cheapest as usize].cost() {
                *cheapest = index as u32;
            }
        }
        self.is_changed = true;
    }

    /// Nobody is chosen for a mark any more. A seed that was good for nothing else is given up.
    pub(crate) fn settle(&mut self, mark: u32) {
        if self.cheapest.remove(&mark).is_none() {
            return;
        }
        self.is_changed = true;
        let cheapest = &self.cheapest;
        for seed in self.seeds.iter_mut().filter(|seed| seed.hits().is_empty()) {
            let is_good = seed.goods().any(|good| cheapest.contains_key(&good));
            seed.is_retired |= !is_good;
        }
    }

    /// Whether a seed is the cheapest with any of its marks that are `wanted`.
    pub(crate) fn is_cheapest_of(&self, index: usize, wanted: impl Fn(u32) -> bool) -> bool {
        let is_cheapest = |mark: &u32| self.cheapest.get(mark) == Some(&(index as u32));
        self.seeds[index].marks().iter().any(|mark| wanted(*mark) && is_cheapest(mark))
    }

    /// Notes by which name a seed is kept.
    pub(crate) fn name(&mut self, index: usize, id: EntryId) {
        self.seeds[index].id = Some(id);
    }

    /// Gives a seed up: others do the same, or it does not do what it did.
    pub(crate) fn retire(&mut self, index: usize) {
        let retired = index as u32;
        self.seeds[index].is_retired = true;
        self.is_changed = true;
        // What it was the cheapest for, another may be.
        let is_orphaned = |good: &u32| self.cheapest.get(good) == Some(&retired);
        let orphaned: BTreeSet<u32> = self.seeds[index].goods().filter(is_orphaned).collect();
        if orphaned.is_empty() {
            return;
        }
        self.cheapest.retain(|good, _| !orphaned.contains(good));
        for (other, seed) in self.seeds.iter().enumerate().filter(|(_, seed)| !seed.is_retired) {
            for good in seed.goods().filter(|good| orphaned.contains(good)) {
                let cheapest = self.cheapest.entry(good).or_insert(other as u32);
                if seed.cost() < self.seeds[*cheapest as usize].cost() {
                    *cheapest = other as u32;
                }
            }
        }
    }

    /// Whether a seed was given up.
    pub(crate) fn is_retired(&self, index: usize) -> bool {
        self.seeds[index].is_retired
    }

    /// Whether a seed is chosen for its marks only, and not given up.
    pub(crate) fn is_pooled(&self, index: usize) -> bool {
        self.seeds[index].hits().is_empty() && !self.seeds[index].is_retired
    }

    /// The seed with a name.
    pub(crate) fn find(&self, id: EntryId) -> Option<usize> {
        self.seeds.iter().position(|seed| seed.id == Some(id) && !seed.hits().is_empty())
    }

    /// Notes the way of a sampled run.
    pub(crate) fn sample(&mut self, signature: u64) {
        *self.frequencies.entry(signature).or_default() += 1;
    }

    /// The next seed to change, and how many inputs are to be made from it. `None` if there is none at all.
    pub(crate) fn choose(&mut self, random: &mut Random, score: Score<'_>) -> Option<(usize, u32)> {
        if self.seeds.iter().all(|seed| seed.is_retired) {
            return None;
        }
        self.renew(score);
        let fresh = loop {
            match self.fresh.pop() {
                Some(index) if self.seeds[index as usize].n_chosen > 0 => {}
                other => break other,
            }
        };
        let index = match fresh {
            Some(index) => index as usize,
            None => self.choose_by_weight(random),
        };
        Some(self.chosen(index, score))
    }

    /// A seed to change because of its marks, and how many inputs are to be made from it. `None` if none has any.
    pub(crate) fn choose_marked(&mut self, random: &mut Random, score: Score<'_>) -> Option<(usize, u32)> {
        self.renew(score);
        let index = *random.one_of(&self.marked)? as usize;
        (!self.seeds[index].is_retired).then(|| self.chosen(index, score))
    }

    fn chosen(&mut self, index: usize, score: Score<'_>) -> (usize, u32) {
        let energy = self.energy(index, score);
        self.seeds[index].n_chosen += 1;
        (index, energy)
    }

    /// Takes note of what has changed.
    fn renew(&mut self, score: Score<'_>) {
        if std::mem::take(&mut self.is_changed) {
            self.favour();
            self.n_since_renewal = RENEWAL;
        }
        self.n_since_renewal += 1;
        if self.n_since_renewal >= RENEWAL {
            self.n_since_renewal = 0;
            self.weigh(score);
        }
    }

    fn choose_by_weight(&mut self, random: &mut Random) -> usize {
        let index = self.chooser.choose(random);
        // With weights that are all nothing, any may come up.
        if self.seeds[index].is_retired {
            return self.seeds.iter().position(|seed| !seed.is_retired).unwrap_or(index);
        }
        index
    }

    /// Finds out how likely each seed is to be chosen.
    fn weigh(&mut self, score: Score<'_>) {
        self.averages = Averages::of(self);
        let mut chooser = std::mem::take(&mut self.chooser);
        let weight = |seed: &Seed| match seed.is_retired || seed.is_only_marked() {
            true => 0.0,
            false => {
                let favour = if seed.is_favoured { 1.0 } else { UNFAVOURED };
                favour * self.rarity(seed) * score(seed)
            }
        };
        chooser.renew(self.seeds.iter().map(weight));
        self.chooser = chooser;
    }

    /// Favours as few of the cheapest seeds as cover every counter, and lists as few as have every mark.
    fn favour(&mut self) {
        let first_mark = self.first_mark.unwrap_or(u32::MAX);
        let mut goods: Vec<(u32, u32)> = self.cheapest.iter().map(|(good, seed)| (*good, *seed)).collect();
        goods.sort_unstable();
        let (counters, marks) = goods.split_at(goods.partition_point(|(good, _)| *good < first_mark));
        for seed in &mut self.seeds {
            seed.is_favoured = false;
        }
        for index in self.covering(counters) {
            self.seeds[index as usize].is_favoured = true;
        }
        self.marked = self.covering(marks);
        self.fresh.clear();
        let is_fresh = |seed: &Seed| seed.is_favoured && seed.n_chosen == 0;
        self.fresh.extend(
            (0..self.seeds.len() as u32).rev().filter(|index| is_fresh(&self.seeds[*index as usize])),
        );
    }

    /// Seeds that have all `goods`, of each the cheapest unless one that is there has it, too.
    fn covering(&self, goods: &[(u32, u32)]) -> Vec<u32> {
        let (Some((first, _)), Some((last, _))) = (goods.first(), goods.last()) else { return Vec::new() };
        let mut covered = vec![false; (last - first) as usize + 1];
        let place = |good: u32| good.checked_sub(*first).map(|place| place as usize);
        let mut covering = Vec::new();
        for (good, index) in goods {
            if place(*good).is_some_and(|place| covered[place]) {
                continue;
            }
            covering.push(*index);
            for place in self.seeds[*index as usize].goods().filter_map(place) {
                // Some are of another kind, and marks beyond the last were settled.
                if let Some(covered) = covered.get_mut(place) {
                    *covered = true;
                }
            }
        }
        covering
    }
}

#[cfg(test)]
mod tests;
