//! Inputs in shared memory: 32 bits of length, then the bytes.
//!
//! The target sees a copy. The client's memory is not for it to write to, and a copy can lie so that reading too far is
//! a crash.

use super::segment::{Name, Segment};
use crate::{buffer::Guarded, system};
use cairn_abi::channel::PAGE;

/// The length before the bytes.
const HEAD: usize = 4;

/// Where inputs come in, and where the target finds them.
#[derive(Debug)]
pub struct Testcase {
    shared: Segment,
    copy: Guarded,
    /// Bytes at the end of the copy that the last input used.
    used: usize,
    /// Bytes at the start of the copy that are accessible, whole pages.
    open: usize,
}

impl Testcase {
    /// Attaches the client's memory; `None` when that fails, and inputs have to come another way.
    pub fn attach(name: Name) -> Option<Self> {
        let shared = Segment::attach(name).filter(|segment| segment.size() > HEAD)?;
        let copy = Guarded::new((shared.size() - HEAD).checked_next_multiple_of(PAGE)?)?;
        let open = copy.length();
        Some(Self { shared, copy, used: 0, open })
    }

    /// The input, its last byte followed by an inaccessible page.
    pub fn at_end(&mut self) -> (*mut u8, usize) {
        let length = self.length();
        let input = self.shared_bytes(length);
        let capacity = self.copy.length();
        let bytes = self.copy.bytes();
        // What a longer input left in front is no part of this one.
        if let Some(left) = bytes.get_mut(capacity - self.used.max(length)..capacity - length) {
            left.fill(0);
        }
        self.used = length;
        if let Some(place) = bytes.get_mut(capacity - length..) {
            place.copy_from_slice(input);
        }
        // SAFETY: `length` is at most the capacity.
        (unsafe { self.copy.start().add(capacity - length) }, length)
    }

    /// The input, always at the same place, for a program that asks for the place only once. What follows it on its last
    /// page is zero, and what follows the page is inaccessible.
    pub fn at_start(&mut self) -> (*mut u8, usize) {
        let length = self.length();
        let input = self.shared_bytes(length);
        let start = self.copy.start();
        let open = length.next_multiple_of(PAGE);
        // SAFETY: all of this lies within the copy, which starts on a page and consists of pages; the target has done
        // with the last input.
        unsafe {
            if open > self.open {
                allow(start, open);
            } else if open < self.open {
                system::forbid(start.add(open), self.open - open);
            }
            self.open = open;
            let (place, behind) = core::slice::from_raw_parts_mut(start, open).split_at_mut(length);
            place.copy_from_slice(input);
            behind.fill(0);
        }
        (start, length)
    }

    fn length(&self) -> usize {
        // SAFETY: the segment is longer than its head and starts on a page. The client may write at any time, so the
        // length is read once and checked.
        let told = unsafe { self.shared.start().cast::<u32>().read_volatile() };
        (told as usize).min(self.shared.size() - HEAD)
    }

    fn shared_bytes(&self, length: usize) -> &'static [u8] {
        // SAFETY: `length` bytes follow the head; the client writes them before the run.
        unsafe { core::slice::from_raw_parts(self.shared.start().add(HEAD), length) }
    }
}

/// Makes whole pages accessible.
///
/// # Safety
/// The pages belong to the caller.
unsafe fn allow(place: *mut u8, size: usize) {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    // SAFETY: the caller vouches for the pages.
    unsafe { system::call(libc::SYS_mprotect, [place.expose_provenance(), size, protection, 0, 0, 0]) };
}
