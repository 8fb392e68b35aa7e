//! The stack of the process.
//!
//! The kernel gives a process 132 KB to start with, of which most programs use a few pages, and all of it would be copied back
//! after every run. So the first runs are watched, and what none of them has used is given back. A run that needs more gets
//! it from the kernel as it grows, as a fresh process does beyond its 132 KB, and it is taken back after that run.

use super::Range;
use crate::system;
use cairn_abi::channel::PAGE;
use core::ptr;

/// As far as the stack may grow; beyond is the program's end in a fresh process too.
pub const LIMIT: usize = 8 << 20;

/// How many runs are watched.
const N_WATCHED: u32 = 64;

/// Pages below the lowest that was used and stay all the same: other inputs may take a little more.
const SPARE: usize = 4 * PAGE;

/// Zeros are a stack nobody has looked for.
#[derive(Clone, Copy)]
pub struct Stack {
    pub start: usize,
    /// The lowest page a run has used.
    lowest: usize,
    n_watched: u32,
    is_cut: bool,
    /// How often the stack has grown since a part was given back.
    pub n_grown: u32,
}

impl Stack {
    /// The stack at `range`, before the first run.
    pub fn new(range: Range) -> Self {
        let mut stack =
            Self { start: range.start, lowest: range.end, n_watched: 0, is_cut: false, n_grown: 0 };
        stack.look(range);
        stack
    }

    /// Whether there is a page below.
    pub fn has_grown(&self) -> bool {
        let arguments = [self.start - PAGE, PAGE, libc::MS_ASYNC as usize, 0, 0, 0];
        // SAFETY: has no effect but to fail where nothing is mapped, and does so quicker than other calls.
        unsafe { system::call(libc::SYS_msync, arguments) == 0 }
    }

    /// Gives back what it has grown by. Nothing else lies there: the kernel keeps the place free.
    pub fn shrink(&mut self) {
        self.n_grown += u32::from(self.is_cut);
        // SAFETY: the run is over that used it.
        unsafe { system::unmap(ptr::with_exposed_provenance_mut(self.start - LIMIT), LIMIT) };
    }

    /// Looks at what a run has left in `range`, the whole stack. After enough runs returns where it shall start from now on.
    pub fn watch(&mut self, range: Range) -> Option<usize> {
        if self.n_watched == N_WATCHED {
            return None;
        }
        self.n_watched += 1;
        self.look(range);
        let start = self.lowest.saturating_sub(SPARE);
        (self.n_watched == N_WATCHED && range.start < start && start < range.end).then_some(start)
    }

    fn look(&mut self, range: Range) {
        let mut pages = (range.start..self.lowest).step_by(PAGE);
        // SAFETY: the pages are mapped and readable, and nothing changes them now.
        self.lowest = pages.find(|page| unsafe { is_filled(*page) }).unwrap_or(self.lowest);
    }

    /// Gives back what lies below `start`.
    pub fn cut(&mut self, start: usize) {
        // SAFETY: no run that is watched has used it, and the next find zeros there, as they do now.
        unsafe { system::unmap(ptr::with_exposed_provenance_mut(self.start), start - self.start) };
        self.start = start;
        self.is_cut = true;
    }
}

/// Whether a page holds anything but zeros.
///
/// # Safety
/// It is readable.
pub unsafe fn is_filled(page: usize) -> bool {
    let words = ptr::with_exposed_provenance::<u64>(page);
    // SAFETY: within the page.
    (0..PAGE / 8).any(|word| unsafe { words.add(word).read_volatile() } != 0)
}
