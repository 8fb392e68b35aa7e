//! Inside the keeper: one live target.
//!
//! The executor and the session's processes talk through the channel and need the keeper for nothing but to start
//! them, to answer the calls the filter asks about, to reap, and to kill. So the keeper never limits time here: what takes
//! too long is for the executor to see, who is told at any moment whether the first process still lives.

use super::{
    raw::{self, check},
    request::{self, MAX_GIVEN},
    serve::Keeper,
    tree,
};
use cairn_abi::{channel::CHANNEL_FD, session::descriptors};
use libc::{c_int, pid_t};
use std::sync::atomic::{AtomicU32, Ordering};

impl Keeper<'_> {
    /// Starts a session and serves it until the executor ends it. The last answer is the caller's to send.
    pub(super) fn serve_session(&mut self, fds: [c_int; MAX_GIVEN]) -> Result<(), c_int> {
        let [stdin, stdout, stderr, channel, stdin_content, watch] = fds;
        let placed = [
            (stdin, 0),
            (stdout, 1),
            (stderr, 2),
            (channel, CHANNEL_FD),
            (stdin, descriptors::STDIN),
            (stdout, descriptors::STDOUT),
            (stderr, descriptors::STDERR),
            (stdin_content, descriptors::STDIN_CONTENT),
            (watch, descriptors::WATCH),
        ];
        let Some(pid) = self.launch(&placed, Some(descriptors::SCRATCH)) else { return Ok(()) };
        if self.board().failed_step == 0 {
            raw::send(self.control, b'd', -1)?;
            self.watch(pid)?;
        }
        tree::end_all(self.tree(pid), |_, _, _| {});
        Ok(())
    }

    /// Looks after the session until the executor ends it.
    fn watch(&mut self, pid: pid_t) -> Result<(), c_int> {
        loop {
            self.reap(pid);
            let mut polled = [
                libc::pollfd { fd: self.signals, events: libc::POLLIN, revents: 0 },
                libc::pollfd { fd: self.control, events: libc::POLLIN, revents: 0 },
                libc::pollfd { fd: self.listener, events: libc::POLLIN, revents: 0 },
            ];
            // SAFETY: the array is valid; negative descriptors are skipped.
            unsafe { libc::ppoll(polled.as_mut_ptr(), 3, std::ptr::null(), std::ptr::null()) };
            let [signals, control, calls] = polled;
            if signals.revents != 0 {
                self.drain_signals();
            }
            if calls.revents & libc::POLLIN != 0
                && let Some((caller, _)) = self.answer_call()
            {
                // The executor sees it die and runs the input again in a process of its own, which names the call.
                tree::kill(caller, self.launch_address);
            }
            if control.revents != 0 {
                let (byte, _) = raw::receive::<0>(self.control, 0)?;
                match byte {
                    None => self.leave(pid),
                    Some(request::END) => return Ok(()),
                    Some(byte) => self.obey(byte),
                }
                raw::send(self.control, b'd', -1)?;
            }
        }
    }

    fn obey(&mut self, byte: u8) {
        let pid = self.board().asked_pid;
        self.board().asked_resident = 0;
        self.board().asked_is_stopped = 0;
        self.board().asked_was_there = 0;
        // The number comes from shared memory the target can write.
        if pid <= 1 || !self.is_of_run(pid) {
            return;
        }
        match byte {
            request::LOOK => {
                self.board().asked_resident = tree::resident(pid);
                self.board().asked_is_stopped = u32::from(tree::is_stopped(pid));
            }
            request::KILL => {
                self.board().asked_was_there = u32::from(tree::kill(pid, self.launch_address));
            }
            _ => {}
        }
    }

    /// Reaps whatever ended, and notes the end of the first process.
    fn reap(&mut self, pid: pid_t) {
        loop {
            let mut status = 0;
            // SAFETY: `status` is valid for writing.
            let reaped = check(unsafe {
                libc::wait4(-1, &mut status, libc::WNOHANG | libc::__WALL, std::ptr::null_mut())
            });
            match reaped {
                Ok(reaped @ 1..) if reaped == i64::from(pid) => {
                    let board = self.board;
                    // SAFETY: the board is in shared memory that outlives this process; the executor reads the
                    // status only after the flag.
                    unsafe {
                        (&raw mut (*board).wait_status).write_volatile(status);
                        AtomicU32::from_ptr(&raw mut (*board).session_ended).store(1, Ordering::Release);
                    }
                }
                Ok(1..) => {}
                _ => return,
            }
        }
    }
}
