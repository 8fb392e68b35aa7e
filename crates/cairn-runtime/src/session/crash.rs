//! Where signals arrive that a program dies of by its own fault.
//!
//! Starting another runner takes ten times as long as a small run, and of mutants every eighth crashes. A program that the
//! kernel would end here is at a place like any other where it could have called `_exit`: memory, mappings, descriptors and
//! signals are restored likewise. So the runner lives on, unless it is not sure.

use super::{
    snapshot::signals::{self, Action, CHANGEABLE},
    switch::Left,
    trap,
    vault::{Vault, vault},
};
use crate::system;
use cairn_abi::session::RunnerMode;
use core::{
    ffi::{c_int, c_void},
    sync::atomic::Ordering,
};

/// The signals.
const FATAL: u32 = 1 << libc::SIGSEGV as u32
    | 1 << libc::SIGBUS as u32
    | 1 << libc::SIGFPE as u32
    | 1 << libc::SIGILL as u32
    | 1 << libc::SIGTRAP as u32
    | 1 << libc::SIGABRT as u32;

/// A run that has mapped more may have died of the limit on memory: that is for the host to find out.
const MUCH: usize = 32 << 20;

/// Makes them arrive here, where the program has no handler of its own; which those are, one bit each. Signals that runs are
/// known to handle themselves stay as they are.
pub fn install(vault: &mut Vault) -> u32 {
    if vault.mode != RunnerMode::Snapshot {
        return 0;
    }
    let mut caught = 0;
    for number in 1..signals::N_SIGNALS {
        let bit = 1 << number;
        if FATAL & CHANGEABLE & !vault.snapshot.changed_signals & bit != 0
            && vault.snapshot.signals.is_default(number)
            // SAFETY: the handler is made for this.
            && unsafe { signals::set(number, &action()) }
        {
            caught |= bit;
        }
    }
    vault.snapshot.signals.catch(caught, action());
    caught
}

/// What is in force for a signal that arrives here.
pub fn action() -> Action {
    trap::action(handle)
}

/// # Safety
/// Called by the kernel.
unsafe extern "C" fn handle(signal: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(vault) = vault() else { return die_of(signal) };
    let is_running = vault.regions.board.is_running.load(Ordering::Relaxed) != 0;
    if !is_running || system::thread_id() != vault.thread || vault.snapshot.size_of_added() > MUCH {
        return die_of(signal);
    }
    // SAFETY: the kernel passes the state of the processor.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    // SAFETY: the program runs, and the handler is left as that for stopped calls is.
    unsafe { trap::leave(vault, context, Left::Signalled(signal)) }
}

/// What would have happened without a handler.
fn die_of(signal: c_int) {
    // SAFETY: from here on the process ends.
    unsafe {
        signals::set(signal as usize, &signals::NOTHING);
        system::call(libc::SYS_tkill, [system::thread_id() as usize, signal as usize, 0, 0, 0, 0]);
    }
}
