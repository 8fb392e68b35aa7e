//! Ways to change bytes.

use super::numbers;
use crate::{dictionary::Dictionary, random::Random};
use libafl::{
    mutators::{
        BitFlipMutator, ByteAddMutator, ByteDecMutator, ByteFlipMutator, ByteIncMutator,
        ByteInterestingMutator, ByteNegMutator, ByteRandMutator, BytesCopyMutator, BytesDeleteMutator,
        BytesExpandMutator, BytesInsertCopyMutator, BytesInsertMutator, BytesRandInsertMutator,
        BytesRandSetMutator, BytesSetMutator, BytesSwapMutator, DwordAddMutator, DwordInterestingMutator,
        MutationResult, Mutator, QwordAddMutator, WordAddMutator, WordInterestingMutator,
    },
    state::HasMaxSize,
};

/// What ways to change bytes draw on.
pub(crate) struct Sources<'a> {
    pub dictionary: &'a Dictionary,
    /// The same region of another input; empty if there is none.
    pub donor: &'a [u8],
    /// The most bytes there may be afterwards.
    pub max_size: usize,
}

/// The names of all ways, LibAFL's first. A way is known by its place here.
pub(crate) const NAMES: [&str; N_FOREIGN + N_OWN] = [
    "bit flip",
    "byte flip",
    "byte plus one",
    "byte minus one",
    "byte negated",
    "random byte",
    "byte sum",
    "word sum",
    "double word sum",
    "quad word sum",
    "interesting byte",
    "interesting word",
    "interesting double word",
    "delete bytes",
    "expand bytes",
    "insert a run",
    "insert a random run",
    "set bytes",
    "set random bytes",
    "copy bytes",
    "insert a copy",
    "swap bytes",
    "append bytes",
    "insert a token",
    "overwrite with a token",
    "number in text",
    "repeat bytes",
    "cut off the end",
    "insert from another",
    "overwrite from another",
    "splice with another",
];

const N_FOREIGN: usize = 22;
const N_OWN: usize = 9;

/// The place of a way that applies to every buffer that is not empty.
pub(super) const RANDOM_BYTE: usize = 5;

/// The place of a way that applies to every buffer that is not full.
pub(super) const APPEND: usize = N_FOREIGN;

/// All ways to change bytes.
///
/// Those on single bytes and runs of them are LibAFL's. Its token and crossover mutators want a corpus and a map of
/// metadata that cannot go from thread to thread, so these are ours.
pub(crate) struct ByteMutations {
    foreign: [Box<dyn Mutator<Vec<u8>, Random> + Send>; N_FOREIGN],
    /// Bytes on their way from one place to another.
    scratch: Vec<u8>,
}

impl ByteMutations {
    pub(crate) fn new() -> Self {
        let foreign: [Box<dyn Mutator<Vec<u8>, Random> + Send>; N_FOREIGN] = [
            Box::new(BitFlipMutator::new()),
            Box::new(ByteFlipMutator::new()),
            Box::new(ByteIncMutator::new()),
            Box::new(ByteDecMutator::new()),
            Box::new(ByteNegMutator::new()),
            Box::new(ByteRandMutator::new()),
            Box::new(ByteAddMutator::new()),
            Box::new(WordAddMutator::new()),
            Box::new(DwordAddMutator::new()),
            Box::new(QwordAddMutator::new()),
            Box::new(ByteInterestingMutator::new()),
            Box::new(WordInterestingMutator::new()),
            Box::new(DwordInterestingMutator::new()),
            Box::new(BytesDeleteMutator::new()),
            Box::new(BytesExpandMutator::new()),
            Box::new(BytesInsertMutator::new()),
            Box::new(BytesRandInsertMutator::new()),
            Box::new(BytesSetMutator::new()),
            Box::new(BytesRandSetMutator::new()),
            Box::new(BytesCopyMutator::new()),
            Box::new(BytesInsertCopyMutator::new()),
            Box::new(BytesSwapMutator::new()),
        ];
        Self { foreign, scratch: Vec::new() }
    }

    /// Changes bytes in a way, if it applies; never beyond `sources.max_size`, which they must not exceed before.
    pub(crate) fn apply(
        &mut self,
        way: usize,
        bytes: &mut Vec<u8>,
        random: &mut Random,
        sources: &Sources<'_>,
    ) -> bool {
        let Some(foreign) = self.foreign.get_mut(way) else {
            return self.apply_own(way - N_FOREIGN, bytes, random, sources);
        };
        random.set_max_size(sources.max_size);
        // None of these mutators fails: an error would mean that it did nothing.
        let is_changed = matches!(foreign.mutate(random, bytes), Ok(MutationResult::Mutated));
        bytes.truncate(sources.max_size);
        is_changed
    }

    fn apply_own(
        &mut self,
        way: usize,
        bytes: &mut Vec<u8>,
        random: &mut Random,
        sources: &Sources<'_>,
    ) -> bool {
        let room = sources.max_size.saturating_sub(bytes.len());
        let Sources { dictionary, donor, max_size } = *sources;
        match way {
            0 => {
                let n = (1 + random.below(8)).min(room);
                bytes.extend((0..n).map(|_| random.bits() as u8));
                n > 0
            }
            1 | 2 => match random.one_of(dictionary.tokens()) {
                Some(token) if way == 1 => insert(bytes, random.below(bytes.len() + 1), token, max_size),
                Some(token) => overwrite(bytes, random.below(bytes.len() + 1), token, max_size),
                None => false,
            },
            3 => numbers::change_text(bytes, random, dictionary, max_size),
            4 => self.repeat(bytes, random, room),
            5 => {
                let kept = random.below(bytes.len());
                let is_changed = kept < bytes.len();
                bytes.truncate(kept);
                is_changed
            }
            _ if donor.is_empty() => false,
            6 | 7 => {
                let (start, n) = random.part(donor.len(), usize::MAX);
                let part = &donor[start..start + n];
                let at = random.below(bytes.len() + 1);
                if way == 6 {
                    insert(bytes, at, part, max_size)
                } else {
                    overwrite(bytes, at, part, max_size)
                }
            }
            _ => {
                let at = random.below(bytes.len().min(donor.len()));
                bytes.truncate(at);
                bytes.extend_from_slice(&donor[at..]);
                bytes.truncate(max_size);
                true
            }
        }
    }

    /// Puts several copies of a few bytes after them: what nests or goes round in loops.
    fn repeat(&mut self, bytes: &mut Vec<u8>, random: &mut Random, room: usize) -> bool {
        let (start, n) = random.part(bytes.len(), 32);
        let most = room.checked_div(n).unwrap_or(0);
        let n_copies = (1usize << random.below(8)).min(most);
        if n_copies == 0 {
            return false;
        }
        self.scratch.clear();
        for _ in 0..n_copies {
            self.scratch.extend_from_slice(&bytes[start..start + n]);
        }
        let max_size = bytes.len() + room;
        insert(bytes, start + n, &self.scratch, max_size)
    }
}

/// Puts as much of `part` as there is room for at a place.
pub(super) fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8], max_size: usize) -> bool {
    let size = bytes.len();
    let n = part.len().min(max_size.saturating_sub(size));
    bytes.resize(size + n, 0);
    bytes.copy_within(at..size, at + n);
    bytes[at..at + n].copy_from_slice(&part[..n]);
    n > 0
}

/// Writes as much of `part` as there is room for over what lies at a place, and beyond the end.
pub(super) fn overwrite(bytes: &mut Vec<u8>, at: usize, part: &[u8], max_size: usize) -> bool {
    let n = part.len().min(max_size.saturating_sub(at));
    if bytes.len() < at + n {
        bytes.resize(at + n, 0);
    }
    bytes[at..at + n].copy_from_slice(&part[..n]);
    n > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_keeps_to_the_size_and_most_change_something() {
        let mut dictionary = Dictionary::default();
        dictionary.add(b"token".to_vec());
        let mut mutations = ByteMutations::new();
        let mut random = Random::new(1);
        for (way, name) in NAMES.iter().enumerate() {
            let mut n_changed = 0;
            for round in 0..400 {
                let size = round % 40;
                let before: Vec<u8> =
                    (0..size).map(|n| if n % 5 < 3 { b'0' + n as u8 % 10 } else { n as u8 }).collect();
                let mut bytes = before.clone();
                let sources = Sources { dictionary: &dictionary, donor: b"another input", max_size: 40 };
                let is_changed = mutations.apply(way, &mut bytes, &mut random, &sources);
                assert!(bytes.len() <= 40, "{name}");
                assert!(is_changed || bytes == before, "{name}");
                n_changed += usize::from(bytes != before);
            }
            assert!(n_changed > 100, "{name} changed {n_changed} of 400");
        }
    }

    #[test]
    fn without_another_nothing_is_taken_from_it() {
        let (dictionary, mut random) = (Dictionary::default(), Random::new(1));
        let takes = |(_, name): &(usize, &&str)| name.ends_with("another");
        for (way, name) in NAMES.iter().enumerate().filter(takes) {
            let mut bytes = b"bytes".to_vec();
            let sources = Sources { dictionary: &dictionary, donor: b"", max_size: 40 };
            assert!(!ByteMutations::new().apply(way, &mut bytes, &mut random, &sources));
            assert_eq!(bytes, b"bytes", "{name}");
        }
    }

    #[test]
    fn something_comes_of_nothing() {
        let mut dictionary = Dictionary::default();
        dictionary.add(b"token".to_vec());
        let mut random = Random::new(1);
        let sources = Sources { dictionary: &dictionary, donor: b"", max_size: 40 };
        for (way, name) in NAMES.iter().enumerate() {
            let mut bytes = Vec::new();
            let grows = ["insert a random run", "append bytes", "insert a token", "overwrite with a token"];
            ByteMutations::new().apply(way, &mut bytes, &mut random, &sources);
            assert_eq!(!bytes.is_empty(), grows.contains(name), "{name}");
        }
    }
}
