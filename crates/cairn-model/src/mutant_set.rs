//! Sets of mutants, a bit each.

use crate::ids::MutantId;

/// A set of mutants of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutantSet {
    words: Vec<u64>,
}

impl MutantSet {
    /// Adds a mutant; whether it was new.
    pub fn insert(&mut self, mutant: MutantId) -> bool {
        let (word, bit) = position(mutant);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Removes a mutant.
    pub fn remove(&mut self, mutant: MutantId) {
        let (word, bit) = position(mutant);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }

    /// Whether it is in the set.
    pub fn contains(&self, mutant: MutantId) -> bool {
        let (word, bit) = position(mutant);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The mutants, in order.
    pub fn iter(&self) -> impl Iterator<Item = MutantId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| MutantId(index as u32 * 64 + bit))
        })
    }
}

fn position(mutant: MutantId) -> (usize, u64) {
    (mutant.index() / 64, 1 << (mutant.0 % 64))
}

impl FromIterator<MutantId> for MutantSet {
    fn from_iter<T: IntoIterator<Item = MutantId>>(mutants: T) -> Self {
        let mut set = Self::default();
        set.extend(mutants);
        set
    }
}

impl Extend<MutantId> for MutantSet {
    fn extend<T: IntoIterator<Item = MutantId>>(&mut self, mutants: T) {
        for mutant in mutants {
            self.insert(mutant);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_as_an_ordered_set(steps in proptest::collection::vec((any::<bool>(), 0u32..200), 0..80)) {
            let mut set = MutantSet::default();
            let mut model = BTreeSet::new();
            for (adds, number) in steps {
                let mutant = MutantId(number);
                if adds {
                    prop_assert_eq!(set.insert(mutant), model.insert(mutant));
                } else {
                    set.remove(mutant);
                    model.remove(&mutant);
                }
                prop_assert_eq!(set.contains(mutant), model.contains(&mutant));
            }
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(set.len(), model.len());
            prop_assert_eq!(set.is_empty(), model.is_empty());
        }
    }
}
