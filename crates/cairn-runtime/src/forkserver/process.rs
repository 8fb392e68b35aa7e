//! Children, seen from the server and from themselves.

use crate::system;

/// What a process does on a signal, as the kernel keeps it.
pub type Action = [usize; 4];

/// What happens when nobody cares.
pub const DEFAULT_ACTION: Action = [0; 4];

/// Sets what this process does on `signal` and returns what it did.
///
/// # Safety
/// `action` is the default or came from this function.
pub unsafe fn set_action(signal: i32, action: Action) -> Action {
    let mut before = DEFAULT_ACTION;
    let places = [(&raw const action).expose_provenance(), (&raw mut before).expose_provenance()];
    // SAFETY: the kernel reads and writes one structure each; the caller vouches for what it says.
    unsafe { system::call(libc::SYS_rt_sigaction, [signal as usize, places[0], places[1], 8, 0, 0]) };
    before
}

/// Whether a child that stops itself counts as a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Wait for its end.
    Ended,
    /// Wait until it stops or ends.
    Stopped,
}

/// Waits for a child and returns its status as the kernel puts it; `None` if there is no such child.
pub fn wait(child: i32, until: Until) -> Option<i32> {
    let mut status: i32 = 0;
    let options = if until == Until::Stopped { libc::WUNTRACED } else { 0 };
    loop {
        let place = (&raw mut status).expose_provenance();
        let arguments = [child as usize, place, options as usize, 0, 0, 0];
        // SAFETY: the kernel writes one number, for which there is room.
        let answer = unsafe { system::call(libc::SYS_wait4, arguments) };
        if answer != -(libc::EINTR as isize) {
            return (answer == child as isize).then_some(status);
        }
    }
}

/// Sends a signal to a process.
pub fn signal(process: i32, signal: i32) {
    // SAFETY: sending a signal touches no memory; a handler runs as for any signal.
    unsafe { system::call(libc::SYS_kill, [process as usize, signal as usize, 0, 0, 0, 0]) };
}

/// Stops this process until the server continues it.
pub fn stop() {
    signal(own(), libc::SIGSTOP);
}

/// The id of this process.
pub fn own() -> i32 {
    // SAFETY: asking touches no memory.
    unsafe { system::call(libc::SYS_getpid, [0; 6]) as i32 }
}

/// Makes this process end with `server`, its parent. A client may end the server at any time, and a child that stands
/// still between two inputs would stand there for good.
pub fn end_with(server: i32) {
    let arguments = [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0];
    // SAFETY: these calls read and set numbers in the kernel.
    let parent = unsafe {
        system::call(libc::SYS_prctl, arguments);
        system::call(libc::SYS_getppid, [0; 6]) as i32
    };
    if parent != server {
        // It ended before the kernel knew.
        system::exit(1);
    }
}
