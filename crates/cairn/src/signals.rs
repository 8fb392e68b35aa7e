//! Signals that would end us, so that we can clean up first.

use crate::failure::Failure;
use nix::{
    libc::c_int,
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, raise, sigaction},
    unistd::Pid,
};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

/// The process that signals are passed to, or 0.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// The last signal that came, or 0.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

/// What a user or a machine sends to end a command.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// Signals that would end us are noted, and passed to a child if there is one.
#[derive(Debug)]
pub struct Signals(());

impl Signals {
    /// From now on.
    pub fn catch() -> Result<Self, Failure> {
        let ours = SigAction::new(SigHandler::Handler(pass_on), SaFlags::SA_RESTART, SigSet::empty());
        for signal in ENDING {
            // SAFETY: the handler uses two atomics and `kill`, all of which a signal may interrupt.
            let before = unsafe { sigaction(signal, &ours) }.map_err(std::io::Error::from)?;
            if matches!(before.handler(), SigHandler::SigIgn) {
                // Somebody started us with this signal ignored; so shall our children be.
                // SAFETY: this puts back what was there.
                unsafe { sigaction(signal, &before) }.map_err(std::io::Error::from)?;
            }
        }
        Ok(Self(()))
    }

    /// Whether one came.
    pub fn has_caught(&self) -> bool {
        CAUGHT.load(SeqCst) != 0
    }

    /// From now on a signal ends us as usual, also one that asks again.
    pub fn let_go(&self) {
        let usual = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        for signal in ENDING {
            // SAFETY: the default action has no code of ours.
            let before = unsafe { sigaction(signal, &usual) };
            if let Ok(before) = before
                && matches!(before.handler(), SigHandler::SigIgn)
            {
                // SAFETY: this puts back what was there.
                let _ = unsafe { sigaction(signal, &before) };
            }
        }
    }

    /// From now on signals are passed to the process `child`, also one that has come already.
    pub fn pass_to(&self, child: u32) {
        CHILD.store(child as i32, SeqCst);
        // It may have come when there was nobody to pass it to.
        send(CAUGHT.load(SeqCst));
    }

    /// Signals are passed to nobody.
    pub fn keep(&self) {
        CHILD.store(0, SeqCst);
    }

    /// Ends this process by the signal that came meanwhile, so that whoever waits for us knows.
    pub fn die_if_caught(self) {
        let Ok(signal) = Signal::try_from(CAUGHT.load(SeqCst)) else { return };
        let usual = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        // SAFETY: the default action has no code of ours.
        if unsafe { sigaction(signal, &usual) }.is_ok() {
            let _ = raise(signal);
        }
    }
}

extern "C" fn pass_on(signal: c_int) {
    CAUGHT.store(signal, SeqCst);
    send(signal);
}

fn send(signal: c_int) {
    let child = CHILD.load(SeqCst);
    if let (1.., Ok(signal)) = (child, Signal::try_from(signal)) {
        let _ = kill(Pid::from_raw(child), signal);
    }
}
