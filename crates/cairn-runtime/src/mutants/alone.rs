//! Mutants without a host: `CAIRN_MUTANT` and `CAIRN_REACH`.

use super::{info, names, reach, switches::Switches};
use crate::{buffer::Guarded, environment, system};
use cairn_abi::{
    channel::RUNTIME_EXIT_CODE,
    mutants::{MUTANT_VARIABLE, MutantViewInfo, REACH_VARIABLE, control_size},
};
use core::sync::atomic::{AtomicBool, Ordering};

/// Does what the environment asks for. Called again later where the environment was not there yet; does it once.
pub fn start() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let Some(info) = info() else { return };
    if DONE.load(Ordering::Relaxed) {
        return;
    }
    if environment::is_known() {
        DONE.store(true, Ordering::Relaxed);
        obey(info, environment::variable);
    } else if let Some(mut variables) = initial_environment() {
        DONE.store(true, Ordering::Relaxed);
        let variables_bytes: &[u8] = variables.bytes();
        obey(info, |name| environment::variable_in(variables_bytes, name));
        variables.free();
    }
}

/// What the process was started with, asked of the kernel: the first to run are earlier than the C library.
fn initial_environment() -> Option<Guarded> {
    // SAFETY: the path is a string.
    let file = unsafe { system::open_for_reading(c"/proc/self/environ".as_ptr()) }?;
    let variables = Guarded::read_all(file);
    system::close(file);
    variables
}

fn obey<'a>(info: &'static MutantViewInfo, variable: impl Fn(&[u8]) -> Option<&'a [u8]>) {
    // An empty variable is how a shell leaves one out.
    let asked = |name: &str| variable(name.as_bytes()).filter(|value| !value.is_empty());
    match (asked(MUTANT_VARIABLE), asked(REACH_VARIABLE)) {
        (None, None) => {}
        (Some(mutant), None) => match selector_of(info, mutant) {
            Some(selector) => change(info, |switches| switches.activate(selector)),
            None => fail(&[b"CAIRN_MUTANT: this program has no mutant `", mutant, b"`", UNKNOWN_HINT]),
        },
        (None, Some(path)) => {
            reach::note_in(info, path);
            change(info, |switches| switches.examine());
        }
        (Some(_), Some(_)) => fail(&[b"CAIRN_MUTANT and CAIRN_REACH are both set", BOTH_HINT]),
    }
}

const UNKNOWN_HINT: &[u8] =
    b"\n\nhint: give the 16 digits that `cairn mutants` shows, of the build that is run\n";
const BOTH_HINT: &[u8] = b"\n\nhint: a program runs a mutant, or notes what it reaches: unset one\n";

/// The selector a person means.
fn selector_of(info: &MutantViewInfo, text: &[u8]) -> Option<u32> {
    cairn_abi::mutants::selector_of(names(info), info.n_selectors, text)
}

/// Changes the view's own control pages, which the program can only read.
fn change(info: &'static MutantViewInfo, change: impl FnOnce(Switches)) {
    let size = control_size(info.n_functions as usize);
    // SAFETY: the pages hold the view's control and nothing else, and none of its code runs.
    unsafe {
        if !system::allow(info.control, size) {
            fail(&[b"the mutant switches of this program cannot be written\n"]);
        }
        change(Switches::new(info, info.control, None));
        system::make_read_only(info.control, size);
    }
}

/// Ends the program with a message: a test that goes on with the original would pass for a mutant's.
pub fn fail(parts: &[&[u8]]) -> ! {
    system::complain(b"error: ");
    for part in parts {
        system::complain(part);
    }
    system::exit(RUNTIME_EXIT_CODE)
}
