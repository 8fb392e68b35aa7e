//! What runs have reached: those of inputs that are kept, and those that are no reason to keep an input.

use cairn_model::{Coverage, ProgramMap};
use cairn_store::Beyond;
use cairn_strategy::{Seen, Unstable};
use std::collections::BTreeSet;

/// What runs have reached.
#[derive(Debug)]
pub(crate) struct Reached {
    /// What is not new any more.
    pub(crate) seen: Seen,
    /// By inputs that are kept.
    pub(crate) kept: Coverage,
    /// By all, failing runs included.
    pub(crate) all: Coverage,
    failing: BTreeSet<u32>,
    unstable: BTreeSet<u32>,
}

impl Reached {
    /// What was noted beyond inputs that are kept; these are still to be added.
    pub(crate) fn after(map: &ProgramMap, beyond: &Beyond) -> Self {
        let mut reached = Self {
            seen: Seen::nothing(map.n_counters),
            kept: Coverage::empty(map),
            all: Coverage::empty(map),
            failing: BTreeSet::new(),
            unstable: BTreeSet::new(),
        };
        reached.fail(beyond.failing.iter().copied());
        reached.ignore(&Unstable::of(beyond.unstable.clone()));
        reached
    }

    /// Adds what an input that is kept hit.
    pub(crate) fn keep(&mut self, hits: &[(u32, u8)]) {
        self.seen.add(hits);
        self.kept.add_hits(hits);
        self.all.add_hits(hits);
    }

    /// Adds counters that a failing run hit, which stay new all the same: inputs that do not fail are to reach them, too. Whether
    /// there is more to note.
    pub(crate) fn fail(&mut self, counters: impl Iterator<Item = u32>) -> bool {
        let mut is_more = false;
        for counter in counters {
            is_more |= self.failing.insert(counter);
            self.all.add_hits(&[(counter, 1)]);
        }
        is_more
    }

    /// Nothing about these counters is new any more. Whether there is more to note.
    pub(crate) fn ignore(&mut self, unstable: &Unstable) -> bool {
        let n_before = self.n_unstable();
        self.seen.ignore(unstable);
        self.unstable.extend(unstable.counters());
        self.n_unstable() > n_before
    }

    /// How many counters differ from run to run.
    pub(crate) fn n_unstable(&self) -> usize {
        self.unstable.len()
    }

    /// What is to be noted besides inputs that are kept.
    pub(crate) fn beyond(&self) -> Beyond {
        Beyond {
            failing: self.failing.iter().copied().collect(),
            unstable: self.unstable.iter().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_comes_back() {
        let map = ProgramMap { n_counters: 4, ..ProgramMap::default() };
        let mut reached = Reached::after(&map, &Beyond::default());
        reached.keep(&[(0, 1)]);
        assert!(reached.fail([0, 2].into_iter()));
        assert!(!reached.fail([2].into_iter()));
        assert!(reached.ignore(&Unstable::between(&[0, 0, 0, 1], &[0, 0, 0, 0])));
        let mut again = Reached::after(&map, &reached.beyond());
        assert_eq!(again.kept.counters(), [0; 4]);
        again.keep(&[(0, 1)]);
        assert_eq!((again.n_unstable(), again.seen.classes()), (1, reached.seen.classes()));
        let hit = |reached: &Reached| reached.all.counters().iter().map(|n| *n != 0).collect::<Vec<bool>>();
        assert_eq!(hit(&again), [true, false, true, false]);
        assert_eq!(hit(&again), hit(&reached));
    }
}
