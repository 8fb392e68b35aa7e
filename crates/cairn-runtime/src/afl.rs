//! AFL's persistent mode, as `cairn-cc` spells its macros.
//!
//! `__AFL_INIT()`, `__AFL_LOOP(n)`, `__AFL_FUZZ_TESTCASE_BUF` and `__AFL_FUZZ_TESTCASE_LEN` become calls of the functions in
//! `afl/`, which call those here. Driven by a client of AFL's (`forkserver`) the loop runs as it does there. Otherwise it
//! runs once per process, on the delivered buffer or on standard input.

use crate::{buffer::Guarded, channel, system};
use core::{
    ffi::{c_int, c_uint},
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
};

/// Where the forkserver stands, if a client wants one. Called for `__AFL_INIT()`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_afl_enter() {
    #[cfg(feature = "view")]
    crate::forkserver::at_macro();
}

/// True when there is an input to run: the first time, and with a client up to `most` times. Called for `__AFL_LOOP(n)`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_afl_begin(most: c_uint) -> c_int {
    #[cfg(feature = "view")]
    if let Some(driven) = crate::forkserver::at_macro() {
        let begins = driven.rounds.begin(most);
        if begins {
            refresh();
        }
        return begins.into();
    }
    let _ = most;
    static RAN: AtomicBool = AtomicBool::new(false);
    (!RAN.swap(true, Ordering::Relaxed)).into()
}

static START: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// The input: from the client's shared memory, the delivered buffer, or all of standard input. Called for
/// `__AFL_FUZZ_TESTCASE_BUF`.
///
/// With shared memory the place stays the same in all rounds, because programs ask for it before the loop.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_afl_start() -> *mut u8 {
    if START.load(Ordering::Acquire).is_null() && !refresh() {
        let delivered = channel::find().and_then(|channel| channel.buffer());
        let buffer = match delivered {
            Some(bytes) => Guarded::copy_of(bytes),
            None => Guarded::read_all(0),
        };
        let Some(buffer) = buffer else {
            system::complain(b"error: cannot read the test case from standard input\n");
            system::exit(1)
        };
        LENGTH.store(buffer.length(), Ordering::Relaxed);
        START.store(buffer.start(), Ordering::Release);
    }
    START.load(Ordering::Relaxed)
}

/// How many bytes [`cairn_afl_start`] holds. Called for `__AFL_FUZZ_TESTCASE_LEN`.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_afl_size() -> c_uint {
    cairn_afl_start();
    LENGTH.load(Ordering::Relaxed) as c_uint
}

/// Takes the input of this round from the client's shared memory; false where there is none.
#[cfg(feature = "view")]
fn refresh() -> bool {
    let testcase = crate::forkserver::at_macro().and_then(|driven| driven.testcase.as_mut());
    let Some((start, length)) = testcase.map(|testcase| testcase.at_start()) else { return false };
    LENGTH.store(length, Ordering::Relaxed);
    START.store(start, Ordering::Release);
    true
}

#[cfg(not(feature = "view"))]
fn refresh() -> bool {
    false
}
