//! Which failures were seen.

use cairn_model::Ending;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
};

/// Failing runs, told apart as well as is possible without looking at them: a program that fails on every other input
/// must not drown everything else.
#[derive(Default)]
pub(crate) struct Failures {
    by_ending: BTreeMap<String, Known>,
}

#[derive(Default)]
struct Known {
    classes: BTreeMap<u32, u8>,
    parents: BTreeSet<Option<u32>>,
    /// How often failures that hit the same were told.
    alike: HashMap<u64, u32>,
    /// Failures told that hit nothing new.
    n_more: u32,
}

/// Failures told that hit the same: one mistake may lie on the way to another.
const MOST_ALIKE: u32 = 2;

/// Failures told that hit nothing which others have not hit.
const MOST_MORE: u32 = 32;

impl Failures {
    /// Whether a failure is worth telling: it hits a counter that no run hit that ended so, or one of the first to hit just
    /// these, or, where it hits nothing new at all, it is the first made from this seed.
    pub(crate) fn is_new(&mut self, ending: &Ending, hits: &[(u32, u8)], parent: Option<u32>) -> bool {
        let known = self.by_ending.entry(format!("{ending:?}")).or_default();
        if hits.is_empty() {
            return known.parents.insert(parent);
        }
        let mut is_new = false;
        for (counter, class) in hits {
            let classes = known.classes.entry(*counter).or_default();
            is_new |= *classes & class == 0;
            *classes |= class;
        }
        let mut hash = DefaultHasher::new();
        hits.iter().for_each(|(counter, _)| counter.hash(&mut hash));
        let n_alike = known.alike.entry(hash.finish()).or_default();
        let is_told = is_new || *n_alike < MOST_ALIKE && known.n_more < MOST_MORE;
        *n_alike += u32::from(is_told);
        known.n_more += u32::from(is_told && !is_new);
        is_told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_not_told_for_ever() {
        let mut failures = Failures::default();
        let crash = Ending::Signalled { signal: 11 };
        assert!(failures.is_new(&crash, &[(3, 1), (4, 1)], Some(0)));
        // It may be another mistake on the way to the first.
        assert!(failures.is_new(&crash, &[(3, 1)], Some(1)));
        assert!(failures.is_new(&crash, &[(3, 1)], Some(1)));
        assert!(!failures.is_new(&crash, &[(3, 1)], Some(1)));
        assert!(failures.is_new(&Ending::OutOfFuel, &[(3, 1)], Some(0)));
        assert!(failures.is_new(&crash, &[], Some(0)));
        assert!(!failures.is_new(&crash, &[], Some(0)));
        assert!(failures.is_new(&crash, &[], Some(1)));
    }
}
