//! `LLVMFuzzerMutate`: what a harness's own mutator calls to have bytes changed.
//!
//! Each call makes one change. Chance begins where the host says for every request of a session, and the words are
//! the host's; without a host there are none, and chance always begins at the same place.

use cairn_abi::changes::Words;
use core::{
    ptr,
    sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering},
};

/// What changes draw on. In the program's memory, so that a session restores it.
static CHANCE: AtomicU64 = AtomicU64::new(0);
static WORDS_START: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static WORDS_SIZE: AtomicUsize = AtomicUsize::new(0);

/// Sets where chance begins and which words there are.
pub fn begin(seed: u32, words: &'static [u8]) {
    CHANCE.store(u64::from(seed), Ordering::Relaxed);
    WORDS_START.store(words.as_ptr().cast_mut(), Ordering::Relaxed);
    WORDS_SIZE.store(words.len(), Ordering::Relaxed);
}

/// Changes `size` bytes in place, which become at most `max_size`, and returns how many there are.
///
/// # Safety
/// `max_size` bytes at `data` can be read and written, and nobody else does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_mutate(data: *mut u8, size: usize, max_size: usize) -> usize {
    if data.is_null() || max_size == 0 || isize::try_from(max_size).is_err() {
        return 0;
    }
    let words = match WORDS_START.load(Ordering::Relaxed) {
        start if start.is_null() => &[],
        // SAFETY: they lie in the inputs of a session, which stay mapped.
        start => unsafe { core::slice::from_raw_parts(start, WORDS_SIZE.load(Ordering::Relaxed)) },
    };
    // SAFETY: the caller vouches for the bytes.
    let room = unsafe { core::slice::from_raw_parts_mut(data, max_size) };
    let mut random = Random(CHANCE.load(Ordering::Relaxed));
    let size = change(room, size.min(max_size), &mut random, Words(words));
    CHANCE.store(random.0, Ordering::Relaxed);
    size
}

/// Ways are drawn so often before one is taken that always applies.
const DRAWS: usize = 16;

/// Changes the first `size` bytes of `room`, and returns how many there are afterwards.
fn change(room: &mut [u8], size: usize, random: &mut Random, words: Words<'_>) -> usize {
    for _ in 0..DRAWS {
        let way = WAYS[random.below(WAYS.len())];
        if let Some(size) = way(room, size, random, words) {
            return size;
        }
    }
    insert_bytes(room, size, random, words).or_else(|| random_byte(room, size, random, words)).unwrap_or(size)
}

/// Changes the first bytes of some room and says how many there are then; `None` if it does not apply.
type Way = fn(&mut [u8], usize, &mut Random, Words<'_>) -> Option<usize>;

const WAYS: [Way; 13] = [
    flip_bit,
    random_byte,
    add_to_byte,
    interesting_number,
    add_to_number,
    change_digit,
    insert_bytes,
    erase_bytes,
    copy_part,
    insert_part,
    swap_bytes,
    insert_word,
    write_word,
];

fn flip_bit(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    *place(room, size, random)? ^= 1 << random.below(8);
    Some(size)
}

fn random_byte(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let byte = place(room, size, random)?;
    // Never the same one.
    *byte = byte.wrapping_add(1 + random.below(255) as u8);
    Some(size)
}

fn add_to_byte(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let byte = place(room, size, random)?;
    *byte = byte.wrapping_add(random.delta() as u8);
    Some(size)
}

/// Values at which programs decide otherwise: ends of types, and sizes.
const INTERESTING: [i64; 19] = [
    0,
    1,
    -1,
    16,
    32,
    64,
    100,
    127,
    -128,
    128,
    255,
    256,
    1024,
    4096,
    i16::MAX as i64,
    i16::MIN as i64,
    i32::MAX as i64,
    i32::MIN as i64,
    i64::MAX,
];

fn interesting_number(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let value = INTERESTING[random.below(INTERESTING.len())];
    change_number(room, size, random, |_| value as u64)
}

fn add_to_number(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let delta = random.delta();
    change_number(room, size, random, |number| number.wrapping_add(delta as u64))
}

/// Changes a number of 1, 2, 4 or 8 bytes, in either order.
fn change_number(
    room: &mut [u8],
    size: usize,
    random: &mut Random,
    change: impl FnOnce(u64) -> u64,
) -> Option<usize> {
    let width = 1 << random.below(4);
    let start = random.below((size + 1).checked_sub(width)?);
    let is_big_endian = random.below(2) == 0;
    let bytes = room.get_mut(start..start + width)?;
    if is_big_endian {
        bytes.reverse();
    }
    let number = bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    for (byte, new) in bytes.iter_mut().zip(change(number).to_le_bytes()) {
        *byte = new;
    }
    if is_big_endian {
        bytes.reverse();
    }
    Some(size)
}

fn change_digit(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let start = random.below(size);
    let digit = room.get_mut(start..size)?.iter_mut().find(|byte| byte.is_ascii_digit())?;
    *digit = b'0' + (*digit - b'0' + 1 + random.below(9) as u8) % 10;
    Some(size)
}

/// Of chance, or all the same.
fn insert_bytes(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let most = 1 << random.below(6);
    let n = (1 + random.below(most)).min(room.len() - size);
    let start = random.below(size + 1);
    let repeated = (random.below(2) == 0).then(|| random.next() as u8);
    for byte in open(room, size, start, n)? {
        *byte = repeated.unwrap_or_else(|| random.next() as u8);
    }
    Some(size + n)
}

/// Not all of them.
fn erase_bytes(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let (start, n) = random.part(size)?;
    if n == size {
        return None;
    }
    room.copy_within(start + n..size, start);
    Some(size - n)
}

fn copy_part(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let (from, n) = random.part(size)?;
    let to = random.below(size - n + 1);
    room.copy_within(from..from + n, to);
    (from != to).then_some(size)
}

fn insert_part(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let (from, n) = random.part(size)?;
    let n = n.min(room.len() - size);
    let to = random.below(size + 1);
    open(room, size, to, n)?;
    // What lay behind the gap has moved; of a part that lay on both sides the two ends are copied.
    let n_before = to.saturating_sub(from).min(n);
    room.copy_within(from..from + n_before, to);
    room.copy_within(from + n_before + n..from + n + n, to + n_before);
    Some(size + n)
}

fn swap_bytes(room: &mut [u8], size: usize, random: &mut Random, _: Words<'_>) -> Option<usize> {
    let (one, other) = (random.below(size), random.below(size));
    let differ = room.get(one..size)?.first()? != room.get(other..size)?.first()?;
    room.swap(one, other);
    differ.then_some(size)
}

fn insert_word(room: &mut [u8], size: usize, random: &mut Random, words: Words<'_>) -> Option<usize> {
    let word = one_of(words, random)?;
    let start = random.below(size + 1);
    open(room, size, start, word.len())?.copy_from_slice(word);
    Some(size + word.len())
}

fn write_word(room: &mut [u8], size: usize, random: &mut Random, words: Words<'_>) -> Option<usize> {
    let word = one_of(words, random)?;
    let start = random.below(size + 1);
    let end = start + word.len();
    room.get_mut(start..end)?.copy_from_slice(word);
    Some(size.max(end))
}

/// A byte among the first `size`.
fn place<'a>(room: &'a mut [u8], size: usize, random: &mut Random) -> Option<&'a mut u8> {
    room.get_mut(..size)?.get_mut(random.below(size))
}

/// Makes a gap of `n` bytes at `start`; `None` if there is no room for it, or it would be none.
fn open(room: &mut [u8], size: usize, start: usize, n: usize) -> Option<&mut [u8]> {
    if n == 0 || n > room.len().checked_sub(size)? || start > size {
        return None;
    }
    room.copy_within(start..size, start + n);
    room.get_mut(start..start + n)
}

fn one_of<'a>(words: Words<'a>, random: &mut Random) -> Option<&'a [u8]> {
    let n_words = words.count();
    Words(words.0).nth(random.below(n_words)).filter(|word| !word.is_empty())
}

/// Chances, by Sebastiano Vigna's SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`; 0 if there is none.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A small number that is not 0.
    fn delta(&mut self) -> i64 {
        let amount = 1 + self.below(35) as i64;
        if self.below(2) == 0 { amount } else { -amount }
    }

    /// Where a part of `size` bytes begins and how long it is, at least one; short ones are as likely as long ones.
    fn part(&mut self, size: usize) -> Option<(usize, usize)> {
        let bits = usize::BITS - size.leading_zeros();
        let most = size.min(1 << self.below(bits as usize));
        let n = 1 + self.below(most);
        let last = size.checked_sub(n)?;
        Some((self.below(last + 1), n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const WORDS: &[u8] = b"\x05magic\x00\x02ab";

    #[test]
    fn every_way_keeps_to_the_room_and_changes_something() {
        for (index, way) in WAYS.iter().enumerate() {
            let mut random = Random(index as u64);
            let mut n_changed = 0;
            for round in 0..600 {
                let size = round % 40;
                let before: Vec<u8> = (0..40).map(|n| if n % 3 == 0 { b'7' } else { n }).collect();
                // A byte behind the room would show if it were written.
                let mut bytes = before.clone();
                let (room, behind) = bytes.split_at_mut(36);
                let size = size.min(room.len());
                let Some(new) = way(room, size, &mut random, Words(WORDS)) else { continue };
                assert!(new <= room.len(), "way {index}");
                assert_eq!(behind, &before[36..]);
                n_changed += usize::from(room[..new] != before[..size]);
            }
            assert!(n_changed > 150, "way {index} changed {n_changed} of 600");
        }
    }

    #[test]
    fn a_part_is_inserted_as_it_was() {
        let mut random = Random(3);
        for _ in 0..2000 {
            let before = *b"abcdefgh";
            let mut room = [0; 32];
            room[..8].copy_from_slice(&before);
            let Some(size) = insert_part(&mut room, 8, &mut random, Words(&[])) else { continue };
            let n = size - 8;
            let is_insertion = |at: usize| {
                room[..at] == before[..at]
                    && room[at + n..size] == before[at..]
                    && before.windows(n).any(|part| part == &room[at..at + n])
            };
            assert!((0..=8).any(is_insertion), "{}", room[..size].escape_ascii());
        }
    }

    #[test]
    fn the_same_seed_changes_alike_and_words_are_used() {
        let make = |seed: u64| {
            let mut room = [0u8; 64];
            room[..4].copy_from_slice(b"data");
            let size = change(&mut room, 4, &mut Random(seed), Words(WORDS));
            room[..size].to_vec()
        };
        let made: Vec<_> = (0..500).map(make).collect();
        assert_eq!(made, (0..500).map(make).collect::<Vec<_>>());
        assert!(made.iter().collect::<BTreeSet<_>>().len() > 200);
        assert!(made.iter().any(|made| made.windows(5).any(|part| part == b"magic")));
        // A byte may be copied over one like it.
        assert!(made.iter().filter(|made| *made == b"data").count() < 25);
    }

    #[test]
    fn something_comes_of_nothing_where_there_is_room() {
        begin(1, &[]);
        let mut room = [0u8; 8];
        // SAFETY: the room is as large as it says.
        unsafe {
            assert!(cairn_mutate(room.as_mut_ptr(), 0, 8) > 0);
            assert_eq!(cairn_mutate(room.as_mut_ptr(), 0, 0), 0);
            assert_eq!(cairn_mutate(ptr::null_mut(), 0, 8), 0);
            assert!(cairn_mutate(room.as_mut_ptr(), 100, 8) <= 8);
        }
    }
}
