//! Where signals arrive that a program dies of by its own fault.
//!
//! Starting another runner takes ten times as long as a small run, and of mutants every eighth crashes. A program that the
//! kernel would end here is at a place like any other where it could have called `_exit`: memory, mappings, descriptors and
//! signals are restored likewise. So the runner lives on, unless it is not sure.

use super::{
    snapshot::signals::{self, Action, CHANGEABLE, SignalsLeft},
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

/// Below this lies nothing that anybody could want to write to.
const NULL_PAGES: usize = 64 << 10;

/// In the error of a page fault: it was a write.
const WRITE: i64 = 2;

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
    // The first signal that a program dies of is the last thing that happens to it.
    trap::action(handle, signals::ALL)
}

/// # Safety
/// Called by the kernel.
unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(vault) = vault() else { return die_of(signal) };
    // SAFETY: the kernel passes both.
    let (info, context) = unsafe { (&*info, &*context.cast::<libc::ucontext_t>()) };
    let is_running = vault.regions.board.is_running.load(Ordering::Relaxed) != 0;
    if !is_running || system::thread_id() != vault.thread || is_wild(info, context) || may_lack_memory(vault)
    {
        return die_of(signal);
    }
    // SAFETY: the program runs, and the handler is left as that for stopped calls is; what it blocks is not the program's mask.
    unsafe { trap::leave(vault, SignalsLeft::default(), Left::Signalled(signal)) }
}

/// Whether the program may have written over anything: it has come to an end of memory by writing.
fn is_wild(info: &libc::siginfo_t, context: &libc::ucontext_t) -> bool {
    // What somebody sent has no address.
    let is_fault = info.si_code > 0 && [libc::SIGSEGV, libc::SIGBUS].contains(&info.si_signo);
    let is_write = context.uc_mcontext.gregs[libc::REG_ERR as usize] & WRITE != 0;
    // SAFETY: of these signals the kernel tells an address.
    let address = || unsafe { info.si_addr() }.addr();
    is_fault && is_write && address() >= NULL_PAGES
}

/// Whether the run may have died of the limit on memory: that is for the host to find out.
fn may_lack_memory(vault: &Vault) -> bool {
    let limit = vault.regions.board.memory_limit.load(Ordering::Relaxed) as usize;
    limit != 0 && vault.snapshot.most_used() > limit / 2
}

/// What would have happened without a handler.
fn die_of(signal: c_int) {
    // SAFETY: from here on the process ends.
    unsafe {
        signals::set(signal as usize, &signals::NOTHING);
        system::call(libc::SYS_tkill, [system::thread_id() as usize, signal as usize, 0, 0, 0, 0]);
    }
}
