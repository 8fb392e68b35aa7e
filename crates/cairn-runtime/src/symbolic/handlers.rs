//! What happens to labels while a handler of the program runs.
//!
//! A handler comes between any two instructions. What was on its way between a caller and a function is kept until the handler
//! returns. Where the program brought the signal about itself, by a fault or by `raise`, nothing of ours was under way, and
//! the handler is followed like any function. Where the signal came by itself, a node may be half made and the next run
//! would be interrupted elsewhere: then nothing is noted, what the handler writes loses its labels, and if it never returns the
//! trace ends there.

use super::{cairn_symbolic_state, cairn_symbolic_unmodelled, head, nodes, path};
use crate::system;
use cairn_abi::symbolic::{Cut, state::CallState};
use core::sync::atomic::Ordering;

/// What is kept while a handler runs. `signals.c` has room for it.
#[repr(C)]
pub struct Interrupted {
    state: CallState,
    nodes: u32,
    has_paused: u32,
    records: u64,
}

/// Room for an [`Interrupted`] in `signals.c`.
const ROOM: usize = 1536;

const _: () = assert!(size_of::<Interrupted>() <= ROOM && align_of::<Interrupted>() <= 64);

/// The number of this process, as the kernel writes it into what it tells of a signal.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_process_id() -> i32 {
    system::process_id()
}

/// A handler begins.
///
/// # Safety
/// There is room at `kept`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_enter_handler(kept: *mut Interrupted, came_by_itself: u32) {
    // SAFETY: promised by the caller; a symbolic view has one thread.
    unsafe {
        let state = &raw mut cairn_symbolic_state;
        (&raw mut (*kept).state).copy_from_nonoverlapping(state, 1);
        (*state).callee = 0;
        (*state).returned = 0;
        let pauses = came_by_itself != 0 && nodes::is_on();
        (*kept).has_paused = pauses.into();
        if !pauses {
            return;
        }
        (*kept).nodes = nodes::pause();
        (*kept).records = path::pause();
        if let Some(head) = head() {
            head.cut.store(Cut::Signal as u32, Ordering::Relaxed);
        }
    }
}

/// A handler has returned.
///
/// # Safety
/// `kept` is what was kept when it began.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_leave_handler(kept: *const Interrupted) {
    // SAFETY: promised by the caller; a symbolic view has one thread.
    unsafe {
        (&raw mut cairn_symbolic_state).copy_from_nonoverlapping(&raw const (*kept).state, 1);
        if (*kept).has_paused == 0 {
            return;
        }
        nodes::resume((*kept).nodes);
        path::resume((*kept).records);
        if let Some(head) = head() {
            head.cut.store(Cut::None as u32, Ordering::Relaxed);
        }
        cairn_symbolic_unmodelled(c"(signal handler)".as_ptr());
    }
}
