//! Memory for input bytes that ends where the bytes end.
//!
//! The last byte is the last of its page and the next page is inaccessible, so reading one byte too far is a crash in
//! every build, not only with a sanitizer. The price: the start is aligned only as the length allows, where `malloc`
//! would align to 16.

use crate::system;
use cairn_abi::channel::PAGE;

/// Bytes with an inaccessible page behind them. Stays mapped until [`Guarded::free`].
#[derive(Debug)]
pub struct Guarded {
    start: *mut u8,
    length: usize,
    mapping: *mut u8,
    mapped: usize,
}

impl Guarded {
    /// Memory for `length` bytes, zeroed; `None` when there is none.
    pub fn new(length: usize) -> Option<Self> {
        let usable = length.checked_next_multiple_of(PAGE)?;
        let mapped = usable.checked_add(PAGE)?;
        let mapping = system::map_private(mapped)?;
        #[cfg(all(feature = "view", target_arch = "x86_64"))]
        crate::session::note_mapping(mapping, mapped);
        // SAFETY: the last page of the mapping, which was made with room for it and holds nothing; the start lies
        // `length` bytes before that page.
        unsafe {
            system::forbid(mapping.add(usable), PAGE);
            Some(Self { start: mapping.add(usable - length), length, mapping, mapped })
        }
    }

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Option<Self> {
        let mut guarded = Self::new(bytes.len())?;
        guarded.bytes().copy_from_slice(bytes);
        Some(guarded)
    }

    /// Everything that can be read from `descriptor`, or `None` when reading fails.
    pub fn read_all(descriptor: i32) -> Option<Self> {
        // A page more than a regular file needs, to see its end without growing.
        let expected = system::regular_file_size(descriptor).unwrap_or(0);
        let mut gathered = Self::new(usize::try_from(expected).ok()?.checked_add(PAGE)?)?;
        let mut filled = 0;
        loop {
            if filled == gathered.length {
                let mut larger = Self::new(gathered.length.checked_mul(2)?)?;
                larger.bytes()[..filled].copy_from_slice(gathered.bytes());
                gathered.free();
                gathered = larger;
            }
            match system::read(descriptor, gathered.bytes().get_mut(filled..)?)? {
                0 => break,
                more => filled += more,
            }
        }
        let exact = Self::copy_of(gathered.bytes().get(..filled)?);
        gathered.free();
        exact
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `length` bytes from `start` are mapped and belong to `self`.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.length) }
    }

    /// The first byte; never null, also when there are none.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// How many bytes there are.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Gives the memory back.
    pub fn free(self) {
        // SAFETY: `self` is consumed, so its own view of the bytes ends; callers that passed `start` on are done.
        unsafe { system::unmap(self.mapping, self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_end_at_a_page() {
        for length in [0, 1, PAGE - 1, PAGE, PAGE + 1] {
            let mut guarded = Guarded::copy_of(&vec![7; length]).unwrap();
            assert_eq!((guarded.start().addr() + length) % PAGE, 0);
            assert_eq!(guarded.bytes(), vec![7; length]);
            guarded.free();
        }
    }
}
