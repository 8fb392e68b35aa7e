//! The client's map, laid over the view's counters.
//!
//! The counters keep their addresses and the client reads them where they are counted: nothing is copied. What stands
//! in front of the counters stays zero.

use super::segment::{Name, Segment};
use crate::{counters, system};
use cairn_abi::{
    channel::PAGE,
    counters::{COUNTERS_START, counter_region_size},
};
use core::ptr;

/// A map that is attached but not yet used.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    segment: Segment,
}

impl Map {
    /// Attaches the map; `None` when the kernel refuses.
    pub fn attach(name: Name) -> Option<Self> {
        Segment::attach(name).map(|segment| Self { segment })
    }

    /// How many bytes the view needs; a multiple of 64, to which clients round anyway.
    pub fn size_wanted() -> usize {
        (COUNTERS_START + counters::view().n_counters as usize).next_multiple_of(64)
    }

    /// Makes the view count into the map from now on, or returns false when the map is too small.
    pub fn lay(self) -> bool {
        let view = counters::view();
        let size = region_size();
        let fits =
            self.segment.size().next_multiple_of(PAGE) >= size && view.counters.addr().is_multiple_of(PAGE);
        // SAFETY: these pages hold the view's counters and nothing else. What was counted before `main` is the same in
        // every run and may go.
        fits && unsafe { self.segment.move_over(view.counters, size) }
    }

    /// Lays the map unless somebody has counted into it.
    ///
    /// Without pipes the map may be that of another view, which has `exec`ed this one: its counters mean something else.
    pub fn lay_if_unused(self) {
        // SAFETY: the segment is attached, and the client waits for the end of the run.
        let content = unsafe { core::slice::from_raw_parts(self.segment.start(), self.segment.size()) };
        if content.iter().all(|byte| *byte == 0) {
            self.lay();
        }
    }
}

/// Forgets what was counted so far.
pub fn clear() {
    // SAFETY: the view's counters are that long, and counting is nothing but adding to bytes.
    unsafe { ptr::write_bytes(counters::view().counters, 0, region_size()) };
}

/// Lets the view count on unseen.
pub fn detach() {
    let place = counters::view().counters.expose_provenance();
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let arguments = [place, region_size(), protection as usize, flags as usize, usize::MAX, 0];
    // SAFETY: these pages hold the counters and nothing else, and the client keeps the map.
    unsafe { system::call(libc::SYS_mmap, arguments) };
}

fn region_size() -> usize {
    counter_region_size(counters::view().n_counters as usize)
}
