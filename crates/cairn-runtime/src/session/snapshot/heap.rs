//! The memory between the program and its break.
//!
//! Giving it back after every run would cost a page fault for each page the next run touches, more than everything else
//! a small run does. So it is kept and zeroed, and calls that move the break are answered here: they mostly ask for what is
//! there. From a run's first such call on, all that lies above the break the program knows is closed. Before it only the
//! first page above is, which stops whoever runs over the end, but not a wild pointer further up.

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
    /// How far the run has moved it up in all.
    pub moved: usize,
    /// The pages above `end` that are closed.
    closed: Range,
    /// Pages that are mappings by themselves, see [`Heap::set_apart`]; 0 for none.
    apart: [usize; MOST_APART],
}

const NOTHING: Range = Range { start: 0, end: 0 };

/// Breaks mostly stop at the same few places in all runs.
const MOST_APART: usize = 8;

impl Heap {
    /// What is in force now, which the C library is told too if it has not asked yet: each run would ask.
    pub fn read() -> Self {
        let now = set_break(0);
        // SAFETY: null, or where glibc keeps the break; null there means that it does not know it.
        unsafe {
            if let Some(known) = cairn_session_known_break().as_mut()
                && *known == 0
            {
                *known = now;
            }
        }
        Self { start: now, end: now, real: now, moved: 0, closed: NOTHING, apart: [0; MOST_APART] }
    }

    /// Answers the program's `brk`; `None` if it gives up memory it was started with.
    pub fn set(&mut self, wanted: usize) -> Option<isize> {
        if wanted == 0 {
            return Some(self.end as isize);
        }
        if wanted < self.start {
            return None;
        }
        self.open();
        // Where the kernel refuses, the break stays where the program left it.
        if wanted <= self.real || self.move_real(wanted) {
            if wanted < self.end {
                self.give_back(wanted);
            }
            self.moved = self.moved.saturating_add(wanted.saturating_sub(self.end));
            self.end = wanted;
        }
        self.close(self.real.next_multiple_of(PAGE));
        Some(self.end as isize)
    }

    /// Makes the heap what it was.
    pub fn restore(&mut self) {
        if self.end == self.start {
            // Where the run has not moved the break, or moved it back, what it could not use is as it was.
            return;
        }
        self.open();
        if self.real - self.start > MOST_KEPT {
            self.move_real(self.start);
        }
        // The last page could be used as a whole.
        let used = self.end.min(self.real).next_multiple_of(PAGE);
        self.end = self.start;
        zero(self.start, used);
        self.close(self.start.next_multiple_of(PAGE) + PAGE);
    }

    /// Where it lies.
    pub fn range(&self) -> Range {
        Range { start: self.start, end: self.real.next_multiple_of(PAGE) }
    }

    /// By how many pages the address space is larger than it was.
    pub fn n_pages_kept(&self) -> usize {
        self.real.div_ceil(PAGE) - self.start.div_ceil(PAGE)
    }

    /// Moves the real break; false when the kernel refuses.
    fn move_real(&mut self, wanted: usize) -> bool {
        self.real = set_break(wanted);
        for page in &mut self.apart {
            if *page >= self.real {
                *page = 0;
            }
        }
        self.real == wanted
    }

    /// Pages that a program gives back come back zeroed.
    fn give_back(&mut self, wanted: usize) {
        if self.end - wanted <= MOST_KEPT || !self.move_real(wanted) {
            zero(wanted.next_multiple_of(PAGE), self.end.next_multiple_of(PAGE));
        }
    }

    /// Closes what lies above the program's break, up to `end`, as far as there is anything.
    fn close(&mut self, end: usize) {
        let start = self.end.next_multiple_of(PAGE);
        if start < self.real {
            self.set_apart(start);
            self.closed = Range { start, end };
            // SAFETY: between the program's break and the real one nothing is that anybody needs.
            unsafe { system::forbid(ptr::with_exposed_provenance_mut(start), self.closed.size()) };
        }
    }

    fn open(&mut self) {
        let closed = core::mem::replace(&mut self.closed, NOTHING);
        if closed.size() > 0 {
            // SAFETY: as above.
            unsafe { system::allow(ptr::with_exposed_provenance_mut(closed.start), closed.size()) };
        }
    }

    /// Makes a page a mapping by itself, by advice without effect: to open and to close a part of a mapping takes the
    /// kernel twice as long.
    fn set_apart(&mut self, page: usize) {
        if !self.apart.contains(&page)
            && let Some(place) = self.apart.iter_mut().find(|place| **place == 0)
        {
            // SAFETY: the page is the heap's.
            unsafe { system::call(libc::SYS_madvise, [page, PAGE, libc::MADV_DONTDUMP as usize, 0, 0, 0]) };
            *place = page;
        }
    }
}

/// Zeroes what the run has used of the heap and nobody uses any more.
fn zero(start: usize, end: usize) {
    // SAFETY: between the break at the snapshot and the real break, where only the run has written.
    unsafe { ptr::with_exposed_provenance_mut::<u8>(start).write_bytes(0, end.saturating_sub(start)) };
}

unsafe extern "C" {
    /// Where glibc keeps the break; null in a program without glibc.
    fn cairn_session_known_break() -> *mut usize;
}

core::arch::global_asm!(
    ".pushsection .text.cairn_session,\"ax\",@progbits",
    ".weak __curbrk",
    ".hidden cairn_session_known_break",
    ".globl cairn_session_known_break",
    ".type cairn_session_known_break,@function",
    "cairn_session_known_break:",
    "mov rax, qword ptr [rip + __curbrk@GOTPCREL]",
    "ret",
    ".popsection",
);

/// Asks the kernel; the break afterwards.
fn set_break(wanted: usize) -> usize {
    // SAFETY: memory above the break at the snapshot is the run's, and what lies below is never asked for.
    unsafe { system::call(libc::SYS_brk, [wanted, 0, 0, 0, 0, 0]) as usize }
}
