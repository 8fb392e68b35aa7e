//! `main` for a `LLVMFuzzerTestOneInput` harness.
//!
//! With a host the harness runs once, on the delivered buffer. Without one it runs on every file named as an argument,
//! or else on standard input, as libFuzzer does when it replays; arguments that start with `-` are left to
//! `LLVMFuzzerInitialize`. In a view a client of AFL's may drive it, one input after the other. What a harness defines to
//! change inputs itself is called in sessions only, when the host asks for it.

use crate::{
    buffer::Guarded,
    channel::{self, Channel},
    system,
};
use cairn_abi::channel::Stage;
use core::{
    ffi::{CStr, c_char, c_int, c_uint},
    sync::atomic::Ordering,
};

/// What a harness defines.
pub type TestOneInput = unsafe extern "C" fn(*const u8, usize) -> c_int;
/// What a harness may define.
pub type Initialize = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char) -> c_int;
/// What a harness may define to change inputs itself: in place, up to a size, by a seed. Returns the new size.
pub type CustomMutator = unsafe extern "C" fn(*mut u8, usize, usize, c_uint) -> usize;
/// Likewise, to make one of two, in other memory.
pub type CustomCrossOver =
    unsafe extern "C" fn(*const u8, usize, *const u8, usize, *mut u8, usize, c_uint) -> usize;

/// The functions of a harness that are called more than once.
#[derive(Clone, Copy)]
pub struct Harness {
    /// Runs an input.
    pub test_one_input: TestOneInput,
    /// Changes an input.
    pub mutator: Option<CustomMutator>,
    /// Makes an input of two.
    pub cross_over: Option<CustomCrossOver>,
}

/// Runs the harness and returns the exit status. Called by `main.c`.
///
/// # Safety
/// Called once by `main`, with the program's arguments and the harness's functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_harness_main(
    mut argc: c_int,
    mut argv: *mut *mut c_char,
    test_one_input: TestOneInput,
    initialize: Option<Initialize>,
    mutator: Option<CustomMutator>,
    cross_over: Option<CustomCrossOver>,
) -> c_int {
    #[cfg(feature = "view")]
    crate::compare::if_asked();
    channel::reached(Stage::MainEntered);
    #[cfg(feature = "view")]
    if channel::find().is_none() {
        crate::mutants::start_alone();
    }
    if let Some(initialize) = initialize {
        // SAFETY: this is how libFuzzer calls it.
        unsafe { initialize(&mut argc, &mut argv) };
    }
    match channel::find() {
        Some(channel) => serve(channel, Harness { test_one_input, mutator, cross_over }),
        // SAFETY: `argv` is the program's, possibly as the harness replaced it.
        None => unsafe { run_driven(test_one_input, argc, argv) },
    }
}

/// Runs what a client of AFL's brings, or without one what the arguments name.
///
/// # Safety
/// `argv` holds `argc` strings.
#[cfg(feature = "view")]
unsafe fn run_driven(test_one_input: TestOneInput, argc: c_int, argv: *mut *mut c_char) -> c_int {
    use crate::forkserver::{self, Takes, rounds};
    let Some(driven) = forkserver::enter(Takes::Anything) else {
        // SAFETY: the caller vouches for the arguments.
        return unsafe { replay(test_one_input, argc, argv) };
    };
    let mut status = 0;
    while status == 0 && driven.rounds.begin(rounds::MOST) {
        // SAFETY: the buffer is `length` bytes long until the next round; the caller vouches for the arguments.
        unsafe {
            match &mut driven.testcase {
                Some(testcase) => {
                    let (start, length) = testcase.at_end();
                    test_one_input(start, length);
                }
                None => {
                    system::rewind(0);
                    status = replay(test_one_input, argc, argv);
                }
            }
        }
    }
    status
}

/// # Safety
/// `argv` holds `argc` strings.
#[cfg(not(feature = "view"))]
unsafe fn run_driven(test_one_input: TestOneInput, argc: c_int, argv: *mut *mut c_char) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    unsafe { replay(test_one_input, argc, argv) }
}

/// A session if the host wants one, else one run.
fn serve(channel: Channel, harness: Harness) -> c_int {
    #[cfg(all(feature = "view", target_arch = "x86_64"))]
    if let Some(status) = crate::session::serve(channel, crate::session::Entry::Harness(harness)) {
        return status;
    }
    run_delivered(channel, harness.test_one_input)
}

fn run_delivered(channel: Channel, test_one_input: TestOneInput) -> c_int {
    let Some(buffer) = Guarded::copy_of(channel.buffer().unwrap_or(&[])) else {
        system::complain(b"error: no memory for the harness buffer\n");
        return 1;
    };
    #[cfg(all(feature = "view", target_arch = "x86_64"))]
    // SAFETY: the buffer is `length` bytes long.
    unsafe {
        let harness = (test_one_input as *const ()).expose_provenance();
        crate::symbolic::sources::label_buffer(buffer.start(), buffer.length(), harness);
    }
    // SAFETY: the buffer is `length` bytes long and lives until the process ends.
    let returned = unsafe { test_one_input(buffer.start(), buffer.length()) };
    channel.header().harness_return.store(returned, Ordering::Relaxed);
    channel::reached(Stage::HarnessReturned);
    0
}

/// # Safety
/// `argv` holds `argc` strings.
unsafe fn replay(test_one_input: TestOneInput, argc: c_int, argv: *mut *mut c_char) -> c_int {
    let mut n_files = 0;
    for index in 1..usize::try_from(argc).unwrap_or(0) {
        // SAFETY: the caller vouches for the arguments.
        let (path, bytes) = unsafe {
            let path = *argv.add(index);
            (path, CStr::from_ptr(path).to_bytes())
        };
        if bytes.starts_with(b"-") {
            continue;
        }
        n_files += 1;
        // SAFETY: an argument is a string.
        let descriptor = unsafe { system::open_for_reading(path) };
        let buffer = descriptor.and_then(Guarded::read_all);
        if let Some(descriptor) = descriptor {
            system::close(descriptor);
        }
        let Some(buffer) = buffer else {
            for part in [b"error: cannot read `", bytes, b"`\n"] {
                system::complain(part);
            }
            return 1;
        };
        run_once(test_one_input, buffer);
    }
    if n_files == 0 {
        let Some(buffer) = Guarded::read_all(0) else {
            system::complain(b"error: cannot read standard input\n");
            return 1;
        };
        run_once(test_one_input, buffer);
    }
    0
}

fn run_once(test_one_input: TestOneInput, buffer: Guarded) {
    // SAFETY: the buffer is `length` bytes long and lives until the harness has returned.
    unsafe { test_one_input(buffer.start(), buffer.length()) };
    buffer.free();
}
