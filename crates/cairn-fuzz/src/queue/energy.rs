//! How many inputs are made from a seed.

use super::{Queue, Score, Seed};

/// For a seed that is usual in every respect.
const USUAL: f64 = 128.0;

/// The least and the most.
const LIMITS: (f64, f64) = (16.0, 4096.0);

impl Queue {
    /// More for what is cheap to run, for what is rare, and for what was never tried before.
    pub(super) fn energy(&self, index: usize, score: Score<'_>) -> u32 {
        let seed = &self.seeds[index];
        let active = self.seeds.iter().filter(|seed| !seed.is_retired);
        let (n, steps) = active
            .fold((0.0, 0.0), |(n, steps): (f64, f64), seed| (n + 1.0, steps + seed.fuel() as f64 + 1.0));
        let cheapness = (steps / n / (seed.fuel() as f64 + 1.0)).clamp(0.25, 4.0);
        let novelty = if seed.n_chosen == 0 { 2.0 } else { 1.0 };
        // What stays rare however often it was chosen is given more each time.
        let patience = f64::from(1u32 << seed.n_chosen.min(3));
        let rarity = (self.rarity(seed, self.mean_frequency()) * patience).clamp(0.25, 16.0);
        let energy = USUAL * cheapness * novelty * rarity * score(seed).clamp(0.0, 64.0);
        energy.clamp(LIMITS.0, LIMITS.1) as u32
    }

    /// How much rarer the way of a seed is than that of others: 1 is usual.
    pub(super) fn rarity(&self, seed: &Seed, mean_frequency: f64) -> f64 {
        (mean_frequency / self.frequency(seed)).clamp(1.0 / 16.0, 4.0)
    }

    /// How often the way of a seed was seen, on average.
    pub(super) fn mean_frequency(&self) -> f64 {
        let active = self.seeds.iter().filter(|seed| !seed.is_retired);
        let (n, sum) = active.fold((0.0, 0.0), |(n, sum), seed| (n + 1.0, sum + self.frequency(seed)));
        if n == 0.0 { 1.0 } else { sum / n }
    }

    /// How often the way of a seed was seen; its own run counts.
    fn frequency(&self, seed: &Seed) -> f64 {
        f64::from(self.frequencies.get(&seed.signature()).copied().unwrap_or(0)) + 1.0
    }
}
