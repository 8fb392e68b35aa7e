//! One child after the other, as the client asks.
//!
//! ```text
//!   client → was the last child killed for being slow?
//!   server → the id of the child that runs the next input
//!   server → how that ended, as `wait` tells it
//! ```
//! A child that runs many inputs stops itself after each, and the next request continues it instead of forking.

use super::{
    handshake::{Failure, Form},
    leave, pipes,
    process::{self, DEFAULT_ACTION, Until},
};
use crate::system;

/// Serves until the client goes away. Returns only in children.
///
/// `request` is the first request, where it is here already.
pub fn serve(request: Option<u32>, is_persistent: bool) {
    // Otherwise a program that does not care for its children would let the kernel take their status.
    // SAFETY: the default is always sound.
    let action = unsafe { process::set_action(libc::SIGCHLD, DEFAULT_ACTION) };
    let until = if is_persistent { Until::Stopped } else { Until::Ended };
    let server = process::own();
    let mut request = request;
    let mut stopped: Option<i32> = None;
    loop {
        let was_killed = request.take().unwrap_or_else(pipes::hear) != 0;
        if was_killed && let Some(child) = stopped.take() {
            // It was done in the very moment in which the client lost patience. A weaker signal from the client waits
            // for a process that stands still.
            process::signal(child, libc::SIGKILL);
            process::wait(child, Until::Ended);
        }
        let child = match stopped.take() {
            Some(child) => {
                process::signal(child, libc::SIGCONT);
                child
            }
            None => match system::fork() {
                Some(0) => {
                    process::end_with(server);
                    pipes::close();
                    // SAFETY: this is what the kernel returned above.
                    unsafe { process::set_action(libc::SIGCHLD, action) };
                    return;
                }
                Some(child) => child,
                None => {
                    system::complain(b"error: the forkserver cannot fork\n");
                    leave()
                }
            },
        };
        pipes::tell(child.cast_unsigned());
        let Some(status) = process::wait(child, until) else { leave() };
        if libc::WIFSTOPPED(status) {
            stopped = Some(child);
        }
        pipes::tell(status.cast_unsigned());
    }
}

/// Answers the first request with a failure and ends the server.
pub fn refuse(request: Option<u32>, failure: Failure) -> ! {
    request.unwrap_or_else(pipes::hear);
    system::complain(b"error: the client's coverage map is too small for this program\n");
    // Here both kinds of clients understand the old word.
    pipes::tell(failure.word(Form::Old));
    leave()
}
