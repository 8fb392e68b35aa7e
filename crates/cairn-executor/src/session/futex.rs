//! Sleeping on a word that other processes change.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

/// Sleeps while `word` is `value`, at most `patience` long, possibly shorter.
pub(super) fn wait(word: &AtomicU32, value: u32, patience: Duration) {
    let timeout =
        libc::timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
    // SAFETY: the kernel only compares the word and reads the timeout; both are valid.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const timeout, 0, 0);
    }
}

/// Sets `word` and wakes everyone who sleeps on it.
pub(super) fn set(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    // SAFETY: the kernel does not look at the word.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX, 0, 0, 0);
    }
}
