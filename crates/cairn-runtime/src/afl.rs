//! AFL's persistent mode, as `cairn-cc` spells its macros.
//!
//! `__AFL_INIT()`, `__AFL_LOOP(n)`, `__AFL_FUZZ_TESTCASE_BUF` and `__AFL_FUZZ_TESTCASE_LEN` become calls of the functions
//! here. The loop runs once per process.

use crate::{buffer::Guarded, channel, system};
use core::{
    ffi::{c_int, c_uint},
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
};

/// Where AFL would start its forkserver. There is nothing to do.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_afl_init() {}

/// True the first time.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_afl_loop(_count: c_uint) -> c_int {
    static RAN: AtomicBool = AtomicBool::new(false);
    (!RAN.swap(true, Ordering::Relaxed)).into()
}

static START: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// The delivered buffer, or all of standard input when nothing is delivered.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_afl_buffer() -> *mut u8 {
    if START.load(Ordering::Acquire).is_null() {
        let delivered = channel::find().and_then(|channel| channel.delivery().buffer());
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

/// How many bytes [`cairn_afl_buffer`] holds.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_afl_length() -> c_uint {
    cairn_afl_buffer();
    LENGTH.load(Ordering::Relaxed) as c_uint
}
