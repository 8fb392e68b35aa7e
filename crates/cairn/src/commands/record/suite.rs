//! Runs the suite, and lets signals end it rather than us.

use crate::failure::Failure;
use nix::{
    libc::c_int,
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, raise, sigaction},
    unistd::Pid,
};
use std::{
    env,
    ffi::{OsStr, OsString},
    io::stderr,
    os::fd::AsFd,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::atomic::{AtomicI32, Ordering::SeqCst},
};

/// The process that signals are passed to, or 0.
static SUITE: AtomicI32 = AtomicI32::new(0);

/// The last signal that came, or 0.
static CAUGHT: AtomicI32 = AtomicI32::new(0);

/// What a user or a machine sends to end a command.
const ENDING: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// Signals that would end us are passed to the suite.
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
                // Somebody started us with this signal ignored; so shall the suite be.
                // SAFETY: this puts back what was there.
                unsafe { sigaction(signal, &before) }.map_err(std::io::Error::from)?;
            }
        }
        Ok(Self(()))
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
    let suite = SUITE.load(SeqCst);
    if let (1.., Ok(signal)) = (suite, Signal::try_from(signal)) {
        let _ = kill(Pid::from_raw(suite), signal);
    }
}

/// Runs `command` to its end. Its standard output goes to our standard error, because ours is for the result.
pub fn run(
    command: &[OsString],
    search_path: Option<&Path>,
    _signals: &Signals,
) -> Result<ExitStatus, Failure> {
    let (program, arguments) = command.split_first().ok_or_else(|| Failure::usage("no command was given"))?;
    let mut suite = Command::new(program);
    suite.args(arguments).stdout(Stdio::from(stderr().as_fd().try_clone_to_owned()?));
    if let Some(folder) = search_path {
        suite.env("PATH", in_front(folder));
    }
    let name = program.to_string_lossy();
    let mut child = suite.spawn().map_err(|error| {
        Failure::usage(format!("failed to start `{name}`: {error}"))
            .hint("the suite is a command with its arguments after `--`; a line of shell is `sh -c '…'`")
    })?;
    SUITE.store(child.id() as i32, SeqCst);
    // A signal may have come when there was nobody to pass it to.
    send(CAUGHT.load(SeqCst));
    let status = child.wait();
    SUITE.store(0, SeqCst);
    Ok(status?)
}

fn in_front(folder: &Path) -> OsString {
    let rest = env::var_os("PATH").unwrap_or_default();
    let mut path = folder.as_os_str().to_os_string();
    if !rest.is_empty() {
        path.push(OsStr::new(":"));
        path.push(rest);
    }
    path
}
