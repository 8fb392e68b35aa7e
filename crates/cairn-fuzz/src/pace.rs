//! How work is divided.

use std::time::Duration;

/// Divides work between trying inputs and looking at comparisons, and finds a good size for batches.
///
/// Where time is limited, shares are shares of time. Where it is not, a look at comparisons is worth a number of inputs,
/// and batches are as large as possible, so that decisions are the same every time.
pub(crate) struct Pace {
    n_inputs: u64,
    n_looks: u64,
    looking: Duration,
    working: Duration,
    batch: u64,
}

/// Inputs for each look at comparisons, and how many looks come first.
const INPUTS_PER_LOOK: u64 = 500;
const FIRST_LOOKS: u64 = 16;

/// The part of the time that goes to comparisons.
const SHARE: u32 = 5;

/// How long a batch may take, so that a loop stops soon after it is asked to.
const LONGEST_BATCH: Duration = Duration::from_millis(50);

/// Where batches begin.
const FIRST_BATCH: u64 = 16;

impl Pace {
    pub(crate) fn new() -> Self {
        Self { n_inputs: 0, n_looks: 0, looking: Duration::ZERO, working: Duration::ZERO, batch: FIRST_BATCH }
    }

    /// Whether it is time to look at comparisons.
    pub(crate) fn looks(&self, is_timed: bool) -> bool {
        if is_timed {
            return self.n_looks == 0 || self.looking * SHARE <= self.working + self.looking;
        }
        self.n_looks * INPUTS_PER_LOOK <= self.n_inputs + FIRST_LOOKS * INPUTS_PER_LOOK
    }

    /// How many inputs the next batch has, at most `most`.
    pub(crate) fn batch(&self, most: u64, is_timed: bool) -> u64 {
        if is_timed { most.min(self.batch) } else { most }
    }

    /// Notes a look.
    pub(crate) fn looked(&mut self, took: Option<Duration>) {
        self.n_looks += 1;
        self.looking += took.unwrap_or_default();
    }

    /// Notes a batch.
    pub(crate) fn worked(&mut self, n_inputs: u64, took: Option<Duration>) {
        self.n_inputs += n_inputs;
        let Some(took) = took else { return };
        self.working += took;
        if took > LONGEST_BATCH {
            self.batch = (self.batch / 2).max(1);
        } else if took < LONGEST_BATCH / 4 && n_inputs >= self.batch {
            self.batch = self.batch.saturating_mul(2).min(1 << 16);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_targets_have_small_batches() {
        let mut pace = Pace::new();
        let size = |pace: &Pace| pace.batch(64, true);
        assert_eq!((size(&pace), pace.batch(64, false)), (16, 64));
        pace.worked(16, Some(Duration::from_secs(1)));
        assert_eq!(size(&pace), 8);
        for _ in 0..20 {
            pace.worked(64, Some(Duration::from_millis(1)));
        }
        assert_eq!(size(&pace), 64);
    }

    #[test]
    fn looks_have_their_share() {
        let mut pace = Pace::new();
        while pace.looks(false) {
            pace.looked(None);
        }
        assert_eq!(pace.n_looks, FIRST_LOOKS + 1);
        pace.worked(INPUTS_PER_LOOK, None);
        assert!(pace.looks(false));
        pace.looked(Some(Duration::from_secs(1)));
        assert!(!pace.looks(true));
        pace.worked(1000, Some(Duration::from_secs(4)));
        assert!(pace.looks(true));
    }
}
