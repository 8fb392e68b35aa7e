//! How many inputs are made from a seed.

use super::{Queue, Score, Seed};

/// For a seed that is usual in every respect.
const USUAL: f64 = 128.0;

/// The least and the most.
const LIMITS: (f64, f64) = (16.0, 4096.0);

/// What is usual.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Averages {
    /// Steps of a seed's run.
    steps: f64,
    /// How often the way of a seed was seen.
    frequency: f64,
}

impl Averages {
    /// Those of all seeds that were not given up.
    pub(super) fn of(queue: &Queue) -> Self {
        let mut sums = Self::default();
        let mut n = 0.0;
        for seed in queue.seeds.iter().filter(|seed| !seed.is_retired) {
            n += 1.0;
            sums.steps += steps(seed);
            sums.frequency += queue.frequency(seed);
        }
        if n == 0.0 { sums } else { Self { steps: sums.steps / n, frequency: sums.frequency / n } }
    }
}

impl Queue {
    /// More for what is cheap to run, for what is rare, and for what was never tried before.
    pub(super) fn energy(&self, index: usize, score: Score<'_>) -> u32 {
        let seed = &self.seeds[index];
        let cheapness = (self.averages.steps / steps(seed)).clamp(0.25, 4.0);
        let novelty = if seed.n_chosen == 0 { 2.0 } else { 1.0 };
        // What stays rare however often it was chosen is given more each time.
        let patience = f64::from(1u32 << seed.n_chosen.min(3));
        let rarity = (self.rarity(seed) * patience).clamp(0.25, 16.0);
        let energy = USUAL * cheapness * novelty * rarity * score(seed).clamp(0.0, 64.0);
        energy.clamp(LIMITS.0, LIMITS.1) as u32
    }

    /// How much rarer the way of a seed is than that of others: 1 is usual.
    pub(super) fn rarity(&self, seed: &Seed) -> f64 {
        (self.averages.frequency / self.frequency(seed)).clamp(1.0 / 16.0, 4.0)
    }

    /// How often the way of a seed was seen; its own run counts.
    fn frequency(&self, seed: &Seed) -> f64 {
        f64::from(self.frequencies.get(&seed.signature()).copied().unwrap_or(0)) + 1.0
    }
}

/// Steps of a seed's run; never none.
fn steps(seed: &Seed) -> f64 {
    seed.fuel() as f64 + 1.0
}
