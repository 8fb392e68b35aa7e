//! The memory between the program and its break.
//!
//! Giving it back after every run would cost a page fault for each page the next run touches, more than everything else
//! a small run does. So the real break stays where a run has once moved it, and calls that move it are answered here. What a
//! run has used is zeroed, and what lies above the break it knows is closed to it: the program finds what a fresh
//! process would.

use super::Range;
use crate::system;
use cairn_abi::channel::PAGE;
use core::ptr;

/// Zeroing more than this costs more than asking the kernel for fresh pages.
const MOST_KEPT: usize = 1 << 20;

/// Zeros are a heap that was not read.
#[derive(Clone, Copy)]
pub struct Heap {
    /// The break when the snapshot was taken.
    start: usize,
    /// The break as the program knows it.
    end: usize,
    /// The highest it was in this run.
    used: usize,
    /// The break as the kernel knows it.
    real: usize,
}

impl Heap {
    /// What is in force now.
    pub fn read() -> Self {
        let now = set_break(0);
        Self { start: now, end: now, used: now, real: now }
    }

    /// Answers the program's `brk`; `None` if it gives up memory it was started with.
    pub fn set(&mut self, wanted: usize) -> Option<isize> {
        if wanted == 0 {
            return Some(self.end as isize);
        }
        if wanted < self.start {
            return None;
        }
        if wanted > self.real && set_break(wanted) != wanted {
            return Some(self.end as isize);
        }
        self.real = self.real.max(wanted);
        if wanted < self.end {
            zero(wanted, self.end);
            close(wanted, self.end);
        } else {
            open(self.end, wanted);
        }
        self.end = wanted;
        self.used = self.used.max(wanted);
        Some(wanted as isize)
    }

    /// Makes the heap what it was.
    pub fn restore(&mut self) {
        if self.real - self.start > MOST_KEPT {
            let kept = self.start + MOST_KEPT;
            set_break(kept);
            self.real = kept;
        }
        let used = self.used.min(self.real);
        // What the run gave back itself is closed and zero.
        zero_pages(self.start, self.end.min(used));
        close(self.start, used);
        self.end = self.start;
        self.used = self.start;
    }

    /// Where it lies.
    pub fn range(&self) -> Range {
        Range { start: self.start, end: self.real.next_multiple_of(PAGE) }
    }

    /// By how many pages the address space is larger than it was.
    pub fn n_pages_kept(&self) -> usize {
        self.real.div_ceil(PAGE) - self.start.div_ceil(PAGE)
    }
}

/// Asks the kernel; the break afterwards.
fn set_break(wanted: usize) -> usize {
    // SAFETY: memory above the break at the snapshot is the run's, and what lies below is never asked for.
    unsafe { system::call(libc::SYS_brk, [wanted, 0, 0, 0, 0, 0]) as usize }
}

/// Lets the program use whole pages between two breaks.
fn open(from: usize, to: usize) {
    let (start, end) = (from.next_multiple_of(PAGE), to.next_multiple_of(PAGE));
    if start < end {
        // SAFETY: as for `zero`.
        unsafe { system::allow(ptr::with_exposed_provenance_mut(start), end - start) };
    }
}

/// Keeps the program out of whole pages between two breaks.
fn close(from: usize, to: usize) {
    let (start, end) = (from.next_multiple_of(PAGE), to.next_multiple_of(PAGE));
    if start < end {
        // SAFETY: as for `zero`.
        unsafe { system::forbid(ptr::with_exposed_provenance_mut(start), end - start) };
    }
}

/// Zeroes pages that are not: writing to one that was closed costs a page fault, reading does not.
fn zero_pages(start: usize, end: usize) {
    let mut at = start;
    while at < end {
        let next = (at + 1).next_multiple_of(PAGE).min(end);
        // SAFETY: as for `zero`.
        let bytes = unsafe { core::slice::from_raw_parts(ptr::with_exposed_provenance::<u8>(at), next - at) };
        // SAFETY: eight bytes have no invalid values.
        let (before, words, after) = unsafe { bytes.align_to::<u64>() };
        let is_zero =
            words.iter().all(|word| *word == 0) && before.iter().chain(after).all(|byte| *byte == 0);
        if !is_zero {
            zero(at, next);
        }
        at = next;
    }
}

fn zero(start: usize, end: usize) {
    // SAFETY: between the break at the snapshot and the real break, where only the run has written.
    unsafe { ptr::with_exposed_provenance_mut::<u8>(start).write_bytes(0, end.saturating_sub(start)) };
}
