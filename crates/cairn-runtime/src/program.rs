//! What stands between the C library and the program's `main`.

use crate::channel;
use cairn_abi::channel::{EndedBy, Stage};
use core::ffi::{c_char, c_int};

/// The program's own `main`; one that takes fewer arguments ignores the others.
pub type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

/// Calls `main` and returns its status. A view's `main` is a call of this.
///
/// # Safety
/// Called once, by the C library through the view, with what it passes to `main`.
#[cfg_attr(not(target_arch = "x86_64"), unsafe(export_name = "cairn_run_main"))]
pub unsafe extern "C" fn run_main(
    argc: c_int,
    argv: *mut *mut c_char,
    envp: *mut *mut c_char,
    main: Main,
) -> c_int {
    crate::compare::if_asked();
    channel::reached(Stage::MainEntered);
    #[cfg(target_arch = "x86_64")]
    if let Some(channel) = channel::find() {
        let entry = crate::session::Entry::Main { start: argv.cast(), main };
        if let Some(status) = crate::session::serve(channel, entry) {
            return status;
        }
    }
    if channel::find().is_none() {
        crate::mutants::start_alone();
    }
    crate::forkserver::at_main();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: start-up code passes lists of strings.
    unsafe {
        let main = (main as *const ()).expose_provenance();
        crate::symbolic::sources::label_strings(argc, argv, envp, main)
    };
    // SAFETY: the caller vouches for the arguments.
    unsafe { main(argc, argv, envp) }
}

/// Ends the run because it used up its fuel. Called by a view.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_out_of_fuel() -> ! {
    channel::end(EndedBy::Fuel, &[b"error: out of fuel\n"])
}
