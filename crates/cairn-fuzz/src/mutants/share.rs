//! How much of the work goes to mutants.

use super::Care;
use std::time::Duration;

/// Where an adaptive share begins, and its limits.
const FIRST: f64 = 0.08;
const LIMITS: (f64, f64) = (0.02, 0.16);

/// The part of the share that looks at kept inputs have at most.
const KEPT_PART: f64 = 0.5;

/// Looks at samples after which an adaptive share is reconsidered.
const WINDOW: u32 = 32;

/// What runs cost where time is not looked at: looking at an input, and running a mutant on it, in runs of the plain view.
const COST_OF_LOOK: f64 = 6.0;
const COST_OF_MUTANT: f64 = 1.5;

/// How much of the work goes to mutants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShareConfig {
    /// As much as it earns, compared with plain fuzzing.
    Adaptive,
    /// This part of it.
    Fixed(f64),
    /// Mutants are run on every input, as the paper has it.
    Everything,
}

/// Keeps mutants to their share.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    config: ShareConfig,
    share: f64,
    /// What was spent on plain fuzzing: seconds, or runs.
    plain: f64,
    /// What was spent on looks at inputs that are kept anyway, and on samples of the others.
    kept: f64,
    sampled: f64,
    window: Window,
}

/// What was earned since the share was last reconsidered.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    plain: f64,
    sampled: f64,
    n_reached: u32,
    n_killed: u32,
    n_looks: u32,
}

impl Share {
    pub(crate) fn new(config: ShareConfig) -> Self {
        let share = match config {
            ShareConfig::Adaptive => FIRST,
            ShareConfig::Fixed(share) => share,
            ShareConfig::Everything => 1.0,
        };
        Self { config, share, plain: 0.0, kept: 0.0, sampled: 0.0, window: Window::default() }
    }

    /// Notes a batch of the plain view, and how many of its inputs reached something new.
    pub(crate) fn fuzzed(&mut self, n_inputs: u64, took: Option<Duration>, n_reached: usize) {
        let cost = took.map_or(n_inputs as f64, |took| took.as_secs_f64());
        self.plain += cost;
        self.window.plain += cost;
        self.window.n_reached += n_reached as u32;
    }

    /// Notes a look. Whoever judges what it claims runs as many mutants again.
    pub(crate) fn looked(&mut self, care: Care, n_runs: u64, took: Option<Duration>, n_killed: usize) {
        let in_runs = COST_OF_LOOK + COST_OF_MUTANT * n_runs as f64;
        let cost = took.map_or(in_runs, |took| took.as_secs_f64());
        let cost = cost * (1.0 + n_killed as f64 / (n_runs as f64 + 1.0));
        if care == Care::Kept {
            self.kept += cost;
            return;
        }
        self.sampled += cost;
        self.window.sampled += cost;
        self.window.n_killed += n_killed as u32;
        self.window.n_looks += 1;
        if self.config == ShareConfig::Adaptive && self.window.n_looks >= WINDOW {
            self.reconsider();
        }
    }

    /// Whether another input may be looked at. What is kept anyway has a part of the share: a look at it tells which mutants
    /// survive, and kills nothing that the corpus would not kill without it.
    pub(crate) fn allows(&self, care: Care) -> bool {
        let all = self.plain + self.kept + self.sampled;
        self.is_everything()
            || match care {
                Care::Kept => self.kept <= self.share * KEPT_PART * all,
                Care::Sample => self.kept + self.sampled <= self.share * all,
            }
    }

    /// How many of all seeds are chosen because of mutants.
    pub(crate) fn part(&self) -> f64 {
        self.share.min(LIMITS.1)
    }

    /// Whether every input is looked at.
    pub(crate) fn is_everything(&self) -> bool {
        self.config == ShareConfig::Everything
    }

    /// More where a mutant is killed for less than a new branch costs, and less where it is not.
    fn reconsider(&mut self) {
        let Window { plain, sampled, n_reached, n_killed, .. } = std::mem::take(&mut self.window);
        // Half a find, so that what earns nothing for long is still compared by what it costs.
        let rate = |n: u32, cost: f64| (f64::from(n) + 0.5) / cost.max(1e-6);
        let factor = if rate(n_killed, sampled) > rate(n_reached, plain) { 1.25 } else { 0.8 };
        self.share = (self.share * factor).clamp(LIMITS.0, LIMITS.1);
        // What was spent long ago is no debt.
        for spent in [&mut self.plain, &mut self.kept, &mut self.sampled] {
            *spent *= 0.5;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share after many windows in which each sample kills so many and each batch reaches so many.
    fn settled(n_killed: usize, n_reached: usize) -> f64 {
        let mut share = Share::new(ShareConfig::Adaptive);
        for _ in 0..2000 {
            share.fuzzed(100, None, n_reached);
            while share.allows(Care::Sample) {
                share.looked(Care::Sample, 10, None, n_killed);
            }
        }
        share.share
    }

    #[test]
    fn mutants_have_more_where_they_earn_more() {
        assert_eq!(settled(1, 0), LIMITS.1);
        assert_eq!(settled(0, 5), LIMITS.0);
    }

    #[test]
    fn a_share_is_kept_to() {
        for fixed in [0.1, 0.5] {
            let mut share = Share::new(ShareConfig::Fixed(fixed));
            for _ in 0..1000 {
                share.fuzzed(100, None, 0);
                while share.allows(Care::Sample) {
                    share.looked(Care::Sample, 4, None, 0);
                }
            }
            let part = share.sampled / (share.plain + share.sampled);
            assert!((part - fixed).abs() < 0.01, "{part}");
        }
    }

    #[test]
    fn what_is_kept_anyway_leaves_a_part_of_the_share_to_the_others() {
        let mut share = Share::new(ShareConfig::Fixed(0.4));
        for _ in 0..1000 {
            share.fuzzed(100, None, 0);
            while share.allows(Care::Kept) {
                share.looked(Care::Kept, 4, None, 4);
            }
            while share.allows(Care::Sample) {
                share.looked(Care::Sample, 4, None, 0);
            }
        }
        let all = share.plain + share.kept + share.sampled;
        assert!((share.kept / all - 0.4 * KEPT_PART).abs() < 0.01, "{share:?}");
        assert!((share.sampled / all - 0.4 * (1.0 - KEPT_PART)).abs() < 0.01, "{share:?}");
    }

    #[test]
    fn everything_is_looked_at_where_that_is_asked_for() {
        let mut share = Share::new(ShareConfig::Everything);
        for care in [Care::Kept, Care::Sample] {
            share.looked(care, 1000, None, 0);
            assert!(share.allows(care) && share.is_everything());
        }
    }
}
