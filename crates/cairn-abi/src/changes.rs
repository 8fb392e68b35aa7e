//! Buffers that a harness changes itself: `LLVMFuzzerCustomMutator` and `LLVMFuzzerCustomCrossOver` in a session.
//!
//! A batch of [`BatchKind::Changes`](crate::session::BatchKind) has a [`ChangeSlot`] in the place of each
//! [`InputSlot`]. The runner calls the harness's function instead of the harness and keeps what it made as the output of that
//! run, so everything that holds for runs holds for changes: limits, restoring, and that a crash is one request's alone.

use crate::session::{InputSlot, Span};

/// What a harness defines, as bits of [`SessionBoard::changers`](crate::session::SessionBoard::changers).
pub mod changers {
    /// `LLVMFuzzerCustomMutator`.
    pub const MUTATOR: u32 = 1;
    /// `LLVMFuzzerCustomCrossOver`.
    pub const CROSS_OVER: u32 = 2;
}

/// What a call made that did not keep to its size; the value of its run.
pub const TOO_LARGE: i32 = -1;

/// One change that is asked for, by one of the bits of [`changers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ChangeSlot {
    /// What is changed.
    pub data: Span,
    /// What it is crossed with.
    pub other: Span,
    /// [`Words`] for `LLVMFuzzerMutate`.
    pub words: Span,
    /// One of the bits of [`changers`].
    pub changer: u32,
    /// How often the mutator is called, each time on what it has made; crossing over is done once.
    pub n_times: u32,
    /// Where chance begins; each further call has the next number.
    pub seed: u32,
    /// The most bytes there may be afterwards.
    pub max_size: u32,
    /// For later versions; keeps a slot as long as that of an input.
    pub reserved: [u32; 6],
}

const _: () = assert!(size_of::<ChangeSlot>() == size_of::<InputSlot>());

/// The longest word of [`Words`].
pub const LONGEST_WORD: usize = u8::MAX as usize;

/// Words of the target's language: for each its length, one byte, and then the word. Read by the target, which gets them
/// from the host; whatever is cut short ends the list.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(pub &'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first()?;
        let (word, rest) = rest.split_at_checked(usize::from(*length))?;
        self.0 = rest;
        Some(word)
    }
}

/// How [`Words`] begin a word of this length; `None` for one that is too long.
pub fn word_head(length: usize) -> Option<u8> {
    u8::try_from(length).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_again_and_a_cut_one_is_none() {
        let mut list = [0; 8];
        let mut end = 0;
        for word in [&b"one"[..], b"", b"xy"] {
            list[end] = word_head(word.len()).unwrap();
            list[end + 1..][..word.len()].copy_from_slice(word);
            end += 1 + word.len();
        }
        assert_eq!(end, list.len());
        let read = |list| Words(list).fold((0, 0), |(n, sum), word: &[u8]| (n + 1, sum + word.len()));
        assert_eq!(Words(&list).next(), Some(&b"one"[..]));
        assert_eq!(read(&list), (3, 5));
        assert_eq!(read(&list[..7]), (2, 3));
        assert_eq!(word_head(LONGEST_WORD + 1), None);
    }
}
