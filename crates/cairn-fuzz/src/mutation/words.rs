//! Ways to change a command line.

use super::{
    bytes::{ByteMutations, Sources},
    numbers,
};
use crate::{dictionary::Dictionary, random::Random};
use cairn_model::input::Bytes;

/// A way is known by its place here.
pub(super) const NAMES: [&str; 12] = [
    "change a word",
    "number in a word",
    "replace by a token",
    "insert a token",
    "replace by an option",
    "insert an option",
    "extend by a token",
    "remove a word",
    "swap words",
    "repeat a word",
    "word of another",
    "join words",
];

/// What words may be.
pub(super) struct WordLimits {
    pub max_words: usize,
    pub max_word_size: usize,
    /// Bytes that all words may have together.
    pub max_size: usize,
}

/// Changes words in a way, if it applies. No word has a zero in it afterwards.
pub(super) fn change(
    words: &mut Vec<Bytes>,
    way: usize,
    random: &mut Random,
    mutations: &mut ByteMutations,
    dictionary: &Dictionary,
    donors: &[Bytes],
    limits: &WordLimits,
) -> bool {
    let at = random.below(words.len());
    let place = random.below(words.len() + 1);
    let has_room = words.len() < limits.max_words;
    let is_changed = match way {
        0 | 1 if !words.is_empty() => {
            change_bytes(&mut words[at].0, way == 1, random, mutations, dictionary, limits.max_word_size)
        }
        2 | 4 if !words.is_empty() => match pick(way == 4, random, dictionary) {
            Some(token) => {
                words[at].0.clear();
                words[at].0.extend_from_slice(token);
                true
            }
            None => false,
        },
        3 | 5 if has_room => match pick(way == 5, random, dictionary) {
            Some(token) => {
                words.insert(place, token.into());
                true
            }
            None => false,
        },
        6 if !words.is_empty() => match pick(false, random, dictionary) {
            Some(token) => {
                words[at].0.extend_from_slice(token);
                true
            }
            None => false,
        },
        7 if !words.is_empty() => {
            words.remove(at);
            true
        }
        8 if words.len() > 1 => {
            let other = random.below(words.len());
            words.swap(at, other);
            at != other
        }
        9 if has_room && !words.is_empty() => {
            let word = words[at].clone();
            words.insert(place, word);
            true
        }
        10 => match random.one_of(donors) {
            Some(donor) if has_room && random.once_in(2) => {
                words.insert(place, donor.clone());
                true
            }
            Some(donor) if !words.is_empty() => {
                words[at] = donor.clone();
                true
            }
            _ => false,
        },
        11 if at + 1 < words.len() => {
            let next = words.remove(at + 1).0;
            // `-a -b` is the same as `-ab` to many programs.
            let is_short = |word: &[u8]| word.len() >= 2 && word[0] == b'-' && word[1] != b'-';
            let skipped = usize::from(is_short(&words[at].0) && is_short(&next));
            words[at].0.extend_from_slice(&next[skipped..]);
            true
        }
        _ => false,
    };
    trim(words, limits);
    is_changed
}

/// Changes the bytes of a word or of the value of an environment variable. It has no zero in it afterwards.
pub(super) fn change_bytes(
    word: &mut Vec<u8>,
    is_number: bool,
    random: &mut Random,
    mutations: &mut ByteMutations,
    dictionary: &Dictionary,
    max_size: usize,
) -> bool {
    let is_changed = if is_number && !word.is_empty() {
        numbers::change_text(word, random, dictionary, max_size)
    } else {
        word.truncate(max_size);
        let way = random.below(super::bytes::NAMES.len());
        mutations.apply(way, word, random, &Sources { dictionary, donor: &[], max_size })
    };
    word.retain(|byte| *byte != 0);
    is_changed
}

/// A word of the dictionary that can be an argument, or an option.
fn pick<'a>(is_option: bool, random: &mut Random, dictionary: &'a Dictionary) -> Option<&'a [u8]> {
    let mut options = dictionary.options();
    if is_option && options.len() > 0 {
        return options.nth(random.below(options.len()));
    }
    random.one_of(dictionary.tokens()).map(Vec::as_slice).filter(|token| !token.contains(&0))
}

/// Cuts words until they keep to the limits.
fn trim(words: &mut Vec<Bytes>, limits: &WordLimits) {
    words.truncate(limits.max_words);
    let mut left = limits.max_size;
    for word in words.iter_mut() {
        word.0.truncate(limits.max_word_size.min(left));
        left -= word.0.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_to_their_limits_and_have_no_zeros() {
        let mut dictionary = Dictionary::default();
        for token in [&b"--level="[..], b"-v", b"plain", b"with\0zero"] {
            dictionary.add(token.to_vec());
        }
        let limits = WordLimits { max_words: 4, max_word_size: 16, max_size: 40 };
        let mut random = Random::new(1);
        let mut mutations = ByteMutations::new();
        let mut lines = std::collections::BTreeSet::new();
        let mut words: Vec<Bytes> = Vec::new();
        for round in 0..20_000 {
            let donors = ["other".into()];
            let way = round % NAMES.len();
            change(&mut words, way, &mut random, &mut mutations, &dictionary, &donors, &limits);
            assert!(words.len() <= 4 && words.iter().map(|word| word.0.len()).sum::<usize>() <= 40);
            assert!(words.iter().all(|word| word.0.len() <= 16 && !word.0.contains(&0)), "{words:?}");
            lines.extend(words.iter().map(|word| word.0.clone()));
        }
        for wanted in [&b"--level="[..], b"-v", b"plain", b"other"] {
            assert!(lines.contains(wanted), "{}", wanted.escape_ascii());
        }
    }

    #[test]
    fn short_options_join() {
        let limits = WordLimits { max_words: 4, max_word_size: 16, max_size: 40 };
        let mut words: Vec<Bytes> = vec!["-a".into(), "-b".into()];
        let mut random = Random::new(1);
        // Only the first of two words has a next one.
        while words.len() == 2 {
            let (mutations, dictionary) = (&mut ByteMutations::new(), &Dictionary::default());
            change(&mut words, 11, &mut random, mutations, dictionary, &[], &limits);
        }
        assert_eq!(words, ["-ab".into()]);
    }
}
