//! What a mutated body reports at the selected patch.

use super::info;
use crate::{channel, system};
use cairn_abi::{
    channel::EndedBy,
    mutants::{MutantControl, VALUES_START, ValuesHead, observes},
};
use core::sync::atomic::Ordering;

/// Notes one evaluation of the selected patch, and ends the run if it breaks the guidepost. Returns whether the program
/// goes on with the changed value.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_site_value(original: u64, changed: u64) -> bool {
    let Some(info) = info() else { return true };
    // SAFETY: the control pages start so, and nobody writes them while the program runs.
    let control = unsafe { &*info.control.cast::<MutantControl>() };
    let takes_changed = control.observes & observes::KEEP_ORIGINAL == 0;
    let taken = if takes_changed { changed } else { original };
    let Some(region) = channel::find().and_then(|channel| channel.region(channel.header().values)) else {
        return takes_changed;
    };
    let Some(values) = Values::new(region) else { return takes_changed };
    let evaluation = values.head.n_evaluations.fetch_add(1, Ordering::Relaxed);
    if control.observes & observes::RECORD != 0 {
        values.keep(evaluation, taken);
    }
    if control.observes & observes::GUIDEPOST != 0 && control.guidepost.looks_at(evaluation) {
        if !control.guidepost.admits(original, changed, taken) {
            values.head.is_broken.store(1, Ordering::Relaxed);
            channel::end(EndedBy::Guidepost, &[b"error: a guidepost is broken\n"]);
        }
        values.head.n_satisfied.fetch_add(1, Ordering::Relaxed);
    }
    takes_changed
}

/// The values region.
struct Values {
    head: &'static ValuesHead,
    first: *mut u64,
    capacity: u64,
}

impl Values {
    fn new((start, size): (*mut u8, usize)) -> Option<Self> {
        let capacity = size.checked_sub(VALUES_START)? / size_of::<u64>();
        // SAFETY: the region starts on a page, is long enough, and stays mapped; of the head only atomics are used.
        let (head, first) = unsafe { (&*start.cast::<ValuesHead>(), start.add(VALUES_START).cast()) };
        Some(Self { head, first, capacity: capacity as u64 })
    }

    /// Keeps the value of an evaluation if there is room.
    fn keep(&self, evaluation: u64, value: u64) {
        if evaluation < self.capacity {
            // SAFETY: within the region; every evaluation has a place of its own.
            unsafe { self.first.add(evaluation as usize).write(value) };
            self.head.n_kept.fetch_max(evaluation + 1, Ordering::Relaxed);
        }
    }
}

/// Divides by zero.
///
/// The processor raises the signal, so a handler of the program finds what it would find at a division of its own; one
/// that returns comes back to the division.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_bad_division() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the processor stops here; no memory is touched.
    unsafe {
        core::arch::asm!("xor ecx, ecx", "div ecx", out("eax") _, out("ecx") _, out("edx") _, options(nostack));
    }
    // Where a division by zero is no error to the processor, and where a debugger has stepped over it.
    system::raise(libc::SIGFPE);
}
