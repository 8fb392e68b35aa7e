//! Which failures were seen.

use cairn_model::Ending;
use std::collections::{BTreeMap, BTreeSet};

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
}

impl Failures {
    /// Whether a failure is worth telling: it hits a counter that no run hit that ended so, or, where it hits nothing
    /// new at all, it is the first made from this seed.
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
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_once() {
        let mut failures = Failures::default();
        let crash = Ending::Signalled { signal: 11 };
        assert!(failures.is_new(&crash, &[(3, 1)], Some(0)));
        assert!(!failures.is_new(&crash, &[(3, 1)], Some(1)));
        assert!(failures.is_new(&crash, &[(3, 1), (4, 1)], Some(0)));
        assert!(failures.is_new(&Ending::OutOfFuel, &[(3, 1)], Some(0)));
        assert!(failures.is_new(&crash, &[], Some(0)));
        assert!(!failures.is_new(&crash, &[], Some(0)));
        assert!(failures.is_new(&crash, &[], Some(1)));
    }
}
