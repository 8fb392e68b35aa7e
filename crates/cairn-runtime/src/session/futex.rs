//! Sleeping on a word of shared memory.

use crate::system;
use core::sync::atomic::{AtomicU32, Ordering};

/// Sleeps until `word` no longer is `value`.
pub fn wait_while(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) == value {
        let place = word.as_ptr().expose_provenance();
        // SAFETY: the kernel only compares the word.
        unsafe {
            system::call(libc::SYS_futex, [place, libc::FUTEX_WAIT as usize, value as usize, 0, 0, 0]);
        }
    }
}

/// Wakes everyone who sleeps on `word`.
pub fn wake(word: &AtomicU32) {
    let place = word.as_ptr().expose_provenance();
    // SAFETY: the kernel does not look at the word.
    unsafe {
        system::call(libc::SYS_futex, [place, libc::FUTEX_WAKE as usize, i32::MAX as usize, 0, 0, 0]);
    }
}
