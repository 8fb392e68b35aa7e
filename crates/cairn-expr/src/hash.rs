//! A quick hash that is the same in every run.
//!
//! The inputs of these tables are our own nodes, so a hash that resists attacks would only cost time.

use std::hash::{BuildHasher, Hasher};

/// Builds [`Mix`].
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildMix;

impl BuildHasher for BuildMix {
    type Hasher = Mix;

    fn build_hasher(&self) -> Mix {
        Mix(0)
    }
}

/// Mixes 64 bits at a time by a multiplication whose halves are combined.
#[derive(Clone, Copy, Debug)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mix(self.0, value);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Adds a word to a hash.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let product =
        u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(word.rotate_left(32) ^ 0xd6e8_feb8_6659_fd93);
    (product as u64 ^ (product >> 64) as u64).wrapping_add(hash.rotate_left(23)).wrapping_add(word)
}
