//! Chances.

use libafl::state::{HasMaxSize, HasRand};
use libafl_bolts::rands::{Rand, StdRand};

/// The only source of chance in the crate, and all that LibAFL's mutators want to know of a fuzzer.
pub(crate) struct Random {
    rand: StdRand,
    max_size: usize,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rand: StdRand::with_seed(seed), max_size: usize::MAX }
    }

    /// Starts over from another seed.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.rand.set_seed(seed);
    }

    /// Sixty-four bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.rand.next()
    }

    /// A number below `bound`; 0 if there is none.
    #[inline]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.rand.below_or_zero(bound)
    }

    /// True once in `n` times.
    #[inline]
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of some things, if there are any.
    #[inline]
    pub(crate) fn one_of<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len()))
    }

    /// A part of `length` things, at most `most` of them and at least one: where it starts and how long it is.
    /// Short parts are as likely as long ones.
    #[inline]
    pub(crate) fn part(&mut self, length: usize, most: usize) -> (usize, usize) {
        let longest = length.min(most).max(1);
        let bits = usize::BITS - longest.leading_zeros();
        let scale = 1usize << self.below(bits as usize);
        let n = 1 + self.below(scale.min(longest));
        (self.below((length + 1).saturating_sub(n)), n.min(length))
    }
}

impl HasRand for Random {
    type Rand = StdRand;

    fn rand(&self) -> &StdRand {
        &self.rand
    }

    fn rand_mut(&mut self) -> &mut StdRand {
        &mut self.rand
    }
}

impl HasMaxSize for Random {
    fn max_size(&self) -> usize {
        self.max_size
    }

    fn set_max_size(&mut self, max_size: usize) {
        self.max_size = max_size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_within() {
        let mut random = Random::new(1);
        for length in 0..40 {
            for _ in 0..200 {
                let (start, n) = random.part(length, 16);
                assert!(start + n <= length && n <= 16, "{start} + {n} of {length}");
                assert!(n > 0 || length == 0);
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_chances() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [random.bits(), random.bits()]
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }
}
