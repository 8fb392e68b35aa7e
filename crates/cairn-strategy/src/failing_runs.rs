//! Which failing runs are worth a closer look.
//!
//! Finding out how a program fails takes fresh processes, and for a hang all the time a run may take. Among inputs that fail alike,
//! few are worth that; but what was hit before the end does not tell failures apart: one mistake may lie on the way to another.

use cairn_model::Ending;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
};

/// Looks at runs that hit the same.
const MOST_ALIKE: u32 = 2;

/// Looks at crashes that hit nothing that others have not hit.
const MOST_CRASHES: u32 = 32;

/// The same for failures that take long.
const MOST_OTHERS: u32 = 1;

/// Failing runs that were looked at, by how they ended.
#[derive(Debug, Default)]
pub struct FailingRuns {
    by_ending: BTreeMap<String, Looks>,
}

#[derive(Debug, Default)]
struct Looks {
    /// Inputs from which runs were made of which it is not known what they hit.
    parents: BTreeSet<Option<u32>>,
    /// Counters that were hit.
    hit: BTreeSet<u32>,
    /// How often runs that hit the same were looked at.
    alike: HashMap<u64, u32>,
    /// Looks at runs that hit nothing new.
    n_more: u32,
}

impl FailingRuns {
    /// Whether to look at a run; it is then looked at. One that `must` be is looked at in any case.
    pub fn is_worth(&mut self, ending: &Ending, hits: &[(u32, u8)], must: bool) -> bool {
        let looks = self.by_ending.entry(format!("{ending:?}")).or_default();
        let mut is_new = false;
        for (counter, _) in hits {
            is_new |= looks.hit.insert(*counter);
        }
        let n_alike = looks.alike.entry(likeness(hits)).or_default();
        let most = if matches!(ending, Ending::Signalled { .. }) { MOST_CRASHES } else { MOST_OTHERS };
        let is_worth = must || is_new || *n_alike < MOST_ALIKE && looks.n_more < most;
        *n_alike += u32::from(is_worth);
        looks.n_more += u32::from(is_worth && !is_new);
        is_worth
    }

    /// Whether to look at a run of which it is not known what it hit, because nobody asked, or nothing of it is new: the first that
    /// was made from `parent` and ends so.
    pub fn is_worth_unseen(&mut self, ending: &Ending, parent: Option<u32>) -> bool {
        self.by_ending.entry(format!("{ending:?}")).or_default().parents.insert(parent)
    }
}

/// The same for runs that hit the same. How often something was hit before the end says little about the end.
pub fn likeness(hits: &[(u32, u8)]) -> u64 {
    let mut hash = DefaultHasher::new();
    hits.iter().for_each(|(counter, _)| counter.hash(&mut hash));
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRASH: Ending = Ending::Signalled { signal: 11 };

    #[test]
    fn a_crash_on_the_way_to_another_is_looked_at() {
        let mut runs = FailingRuns::default();
        assert!(runs.is_worth(&CRASH, &[(0, 1), (1, 1), (2, 1)], false));
        assert!(runs.is_worth(&CRASH, &[(0, 1)], false));
        assert!(runs.is_worth(&Ending::Signalled { signal: 8 }, &[(0, 1)], false));
    }

    #[test]
    fn what_is_alike_is_looked_at_twice() {
        let mut runs = FailingRuns::default();
        let looks: Vec<bool> = (0..4).map(|_| runs.is_worth(&CRASH, &[(0, 1), (1, 8)], false)).collect();
        assert_eq!(looks, [true, true, false, false]);
        assert!(runs.is_worth(&CRASH, &[(0, 1), (1, 8)], true));
    }

    #[test]
    fn what_hits_nothing_new_is_looked_at_once_for_each_parent() {
        let mut runs = FailingRuns::default();
        let looks = [Some(1), Some(1), Some(2), None].map(|parent| runs.is_worth_unseen(&CRASH, parent));
        assert_eq!(looks, [true, false, true, true]);
        assert!(runs.is_worth_unseen(&Ending::TimedOut, Some(1)));
    }

    #[test]
    fn hangs_are_looked_at_less_often() {
        let looked_at = |ending: &Ending| {
            let mut runs = FailingRuns::default();
            let all: Vec<(u32, u8)> = (0..16).map(|counter| (counter, 1)).collect();
            runs.is_worth(ending, &all, false);
            let sets =
                (0..300u32).map(|n| (0..16).filter(|bit| n >> bit & 1 == 1).map(|bit| (bit, 1)).collect());
            let mut sets = sets.collect::<Vec<Vec<(u32, u8)>>>();
            sets.retain(|set| runs.is_worth(ending, set, false));
            sets.len() as u32
        };
        assert_eq!(looked_at(&CRASH), MOST_CRASHES);
        assert_eq!(looked_at(&Ending::TimedOut), MOST_OTHERS);
    }
}
