//! The memory between the program and its break.
//!
//! Giving it back after every run would cost a page fault for each page the next run touches, more than everything else
//! a small run does. So it is kept and zeroed, and calls that move the break are answered here: they mostly ask for what is
//! there. From a run's first such call on the real break is the one the program knows. Before it only the first page above is
//! closed, which stops whoever runs over the end, but not a wild pointer further up.

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
    /// The break as the kernel knows it.
    real: usize,
}

impl Heap {
    /// What is in force now.
    pub fn read() -> Self {
        let now = set_break(0);
        Self { start: now, end: now, real: now }
    }

    /// Answers the program's `brk`; `None` if it gives up memory it was started with.
    pub fn set(&mut self, wanted: usize) -> Option<isize> {
        if wanted == 0 {
            return Some(self.end as isize);
        }
        if wanted < self.start {
            return None;
        }
        self.guard(system::allow);
        if wanted != self.real {
            // What is given back here comes back zeroed.
            self.real = set_break(wanted);
        }
        if self.real == wanted {
            self.end = wanted;
        } else {
            // The kernel refuses: the break is where the program left it.
            self.real = set_break(self.end);
        }
        Some(self.end as isize)
    }

    /// Makes the heap what it was.
    pub fn restore(&mut self) {
        self.guard(system::allow);
        if self.real - self.start > MOST_KEPT {
            self.real = set_break(self.start);
        }
        let used = self.end.min(self.real);
        // SAFETY: between the break at the snapshot and the real break, where only the run has written.
        unsafe {
            ptr::with_exposed_provenance_mut::<u8>(self.start)
                .write_bytes(0, used.saturating_sub(self.start));
        }
        self.end = self.start;
        self.guard(system::forbid);
    }

    /// Where it lies.
    pub fn range(&self) -> Range {
        Range { start: self.start, end: self.real.next_multiple_of(PAGE) }
    }

    /// By how many pages the address space is larger than it was.
    pub fn n_pages_kept(&self) -> usize {
        self.real.div_ceil(PAGE) - self.start.div_ceil(PAGE)
    }

    /// Opens or closes the first page above the program's break, if the run has not moved it.
    fn guard<T>(&self, change: unsafe fn(*mut u8, usize) -> T) {
        let page = self.start.next_multiple_of(PAGE);
        if self.end == self.start && self.real > page {
            // SAFETY: the page lies between the two breaks, where nothing is that anybody needs.
            unsafe { change(ptr::with_exposed_provenance_mut(page), PAGE) };
        }
    }
}

/// Asks the kernel; the break afterwards.
fn set_break(wanted: usize) -> usize {
    // SAFETY: memory above the break at the snapshot is the run's, and what lies below is never asked for.
    unsafe { system::call(libc::SYS_brk, [wanted, 0, 0, 0, 0, 0]) as usize }
}
