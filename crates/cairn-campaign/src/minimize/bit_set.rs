//! Sets of small numbers, a bit each.

/// A set of small numbers.
#[derive(Clone, Debug, Default)]
pub struct BitSet {
    /// A bit for each number; words that are not there are empty.
    words: Vec<u64>,
}

impl BitSet {
    /// All numbers below `n`.
    pub fn below(n: usize) -> Self {
        (0..n).collect()
    }

    /// Adds a number; whether it was new.
    pub fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (number / 64, 1 << (number % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Whether a number is in the set.
    pub fn contains(&self, number: usize) -> bool {
        self.word(number / 64) & 1 << (number % 64) != 0
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| bits(*word).map(move |bit| index * 64 + bit))
    }

    /// The numbers that are in the other set too, in order.
    pub fn both<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        let words = self.words.iter().zip(&other.words).enumerate();
        words.flat_map(|(index, (one, other))| bits(one & other).map(move |bit| index * 64 + bit))
    }

    /// How many are in the other set too.
    pub fn n_both(&self, other: &Self) -> usize {
        self.words.iter().zip(&other.words).map(|(one, other)| (one & other).count_ones() as usize).sum()
    }

    /// Whether all are in the other set.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words.iter().enumerate().all(|(index, word)| word & !other.word(index) == 0)
    }

    /// Whether all that are in `mask` are in the other set.
    pub fn is_subset_within(&self, mask: &Self, other: &Self) -> bool {
        let words = self.words.iter().zip(&mask.words).enumerate();
        words.into_iter().all(|(index, (word, mask))| word & mask & !other.word(index) == 0)
    }

    /// Adds all of another set.
    pub fn add(&mut self, other: &Self) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Takes out all of another set.
    pub fn subtract(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
    }

    /// Keeps what is in the other set too.
    pub fn intersect(&mut self, other: &Self) {
        for (index, word) in self.words.iter_mut().enumerate() {
            *word &= other.word(index);
        }
    }

    /// The words up to the last number: equal sets have equal keys.
    pub(super) fn key(&self) -> &[u64] {
        let n_words = self.words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        &self.words[..n_words]
    }

    fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }
}

fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}

impl PartialEq for BitSet {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for BitSet {}

impl FromIterator<usize> for BitSet {
    fn from_iter<T: IntoIterator<Item = usize>>(numbers: T) -> Self {
        let mut set = Self::default();
        set.extend(numbers);
        set
    }
}

impl Extend<usize> for BitSet {
    fn extend<T: IntoIterator<Item = usize>>(&mut self, numbers: T) {
        for number in numbers {
            self.insert(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::btree_set, prelude::*};
    use std::collections::BTreeSet;

    fn of(model: &BTreeSet<usize>) -> BitSet {
        model.iter().copied().collect()
    }

    proptest! {
        #[test]
        fn behaves_as_an_ordered_set(
            one in btree_set(0usize..200, 0..30),
            other in btree_set(0usize..200, 0..30),
            mask in btree_set(0usize..200, 0..60),
        ) {
            let (a, b, within) = (of(&one), of(&other), of(&mask));
            prop_assert_eq!(a.iter().collect::<BTreeSet<_>>(), one.clone());
            prop_assert_eq!(a.len(), one.len());
            prop_assert_eq!(a.is_empty(), one.is_empty());
            prop_assert_eq!(a.both(&b).collect::<Vec<_>>(), one.intersection(&other).copied().collect::<Vec<_>>());
            prop_assert_eq!(a.n_both(&b), one.intersection(&other).count());
            prop_assert_eq!(a.is_subset(&b), one.is_subset(&other));
            let part: BTreeSet<usize> = one.intersection(&mask).copied().collect();
            prop_assert_eq!(a.is_subset_within(&within, &b), part.is_subset(&other));
            prop_assert_eq!(a == b, one == other);
            let mut sum = a.clone();
            sum.add(&b);
            prop_assert_eq!(&sum, &of(&one.union(&other).copied().collect()));
            let mut common = a.clone();
            common.intersect(&b);
            prop_assert_eq!(common, of(&one.intersection(&other).copied().collect()));
            sum.subtract(&b);
            prop_assert_eq!(sum, of(&one.difference(&other).copied().collect()));
            let mut fewer = a.clone();
            one.iter().for_each(|number| fewer.remove(*number));
            prop_assert_eq!(fewer, BitSet::default());
        }
    }
}
