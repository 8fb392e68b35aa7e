//! Which pages of the shadow a run of a session has written.
//!
//! They are zeroed before the next run. Giving them back to the kernel would be simpler, and is done where they are many, but a
//! page that is touched again costs about as much as a thousand instructions.

use crate::system;
use cairn_abi::{
    channel::PAGE,
    symbolic::{SHADOW_BASE, SHADOW_SIZE},
};
use core::{
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering},
};

/// The most pages that are zeroed.
const MOST: usize = 4096;

/// Places to look a page up; twice as many, so that there is always a free one near.
const N_PLACES: usize = 2 * MOST;

/// So many runs later the whole shadow is given back, whatever is known: a wild program can write there too.
const RUNS_BETWEEN: u32 = 256;

/// Pages are counted from the start of the shadow. Zeros are no pages.
struct Written {
    pages: [u32; MOST],
    n_pages: usize,
    /// There were more.
    is_full: bool,
    n_runs: u32,
    places: [Place; N_PLACES],
}

/// A page that is in the list, if the run is the current one.
#[derive(Clone, Copy)]
struct Place {
    run: u32,
    page: u32,
}

/// Null where no session needs to know.
static WRITTEN: AtomicPtr<Written> = AtomicPtr::new(ptr::null_mut());

/// The current run, and the page that was written last, counted from 1.
static RUN: AtomicU32 = AtomicU32::new(0);
static LAST: AtomicU32 = AtomicU32::new(0);

const SIZE: usize = size_of::<Written>().next_multiple_of(PAGE);

/// Starts to take note; false when there is no memory.
pub fn begin() -> bool {
    if WRITTEN.load(Ordering::Relaxed).is_null() {
        let Some(place) = system::map_apart(SIZE) else { return false };
        WRITTEN.store(place.cast(), Ordering::Relaxed);
    }
    true
}

/// Whether the list lies between these addresses.
pub fn hold(start: usize, end: usize) -> bool {
    let place = WRITTEN.load(Ordering::Relaxed).addr();
    place != 0 && place < end && start < place + SIZE
}

/// Notes that `length` bytes of the shadow are written.
pub fn note(shadow: usize, length: usize) {
    let written = WRITTEN.load(Ordering::Relaxed);
    if written.is_null() || length == 0 {
        return;
    }
    let page_of = |address: usize| (address.wrapping_sub(SHADOW_BASE as usize) / PAGE) as u32;
    let (first, last) = (page_of(shadow), page_of(shadow + length - 1));
    if first == last && first.wrapping_add(1) == LAST.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: a symbolic view has one thread, and nothing here calls back.
    let written = unsafe { &mut *written };
    let run = RUN.load(Ordering::Relaxed);
    for page in first..=last {
        written.add(page, run);
    }
    LAST.store(last.wrapping_add(1), Ordering::Relaxed);
}

impl Written {
    fn add(&mut self, page: u32, run: u32) {
        if self.is_full {
            return;
        }
        let mut at = page.wrapping_mul(0x9e37_79b9) as usize >> 16;
        loop {
            let Some(place) = self.places.get_mut(at % N_PLACES) else { return };
            if place.run != run {
                *place = Place { run, page };
                break;
            }
            if place.page == page {
                return;
            }
            at += 1;
        }
        match self.pages.get_mut(self.n_pages) {
            Some(slot) => {
                *slot = page;
                self.n_pages += 1;
            }
            None => self.is_full = true,
        }
    }
}

/// Clears the shadow for the next run; no two have the same number, and none has 0.
pub fn clear(run: u32) {
    // SAFETY: null, or made by `begin`; the program does not run.
    let Some(written) = (unsafe { WRITTEN.load(Ordering::Relaxed).as_mut() }) else { return give_back() };
    written.n_runs += 1;
    if written.is_full || written.n_runs % RUNS_BETWEEN == 0 {
        give_back();
    } else {
        for page in written.pages.get(..written.n_pages).unwrap_or(&[]) {
            let place = SHADOW_BASE as usize + *page as usize * PAGE;
            // SAFETY: a page of the shadow.
            unsafe { ptr::with_exposed_provenance_mut::<u8>(place).write_bytes(0, PAGE) };
        }
    }
    (written.n_pages, written.is_full) = (0, false);
    RUN.store(run, Ordering::Relaxed);
    LAST.store(0, Ordering::Relaxed);
}

fn give_back() {
    let arguments = [SHADOW_BASE as usize, SHADOW_SIZE as usize, libc::MADV_DONTNEED as usize, 0, 0, 0];
    // SAFETY: the shadow is ours, and reads as zeros afterwards, as it did at first.
    unsafe { system::call(libc::SYS_madvise, arguments) };
}
