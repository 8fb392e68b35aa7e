//! Runs one test: a line of shell, in a process group of its own.

use crate::{failure::Failure, signals::Signals};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use std::{
    ffi::OsString,
    os::unix::process::CommandExt,
    process::{Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

/// How often signals are looked at.
const BEAT: Duration = Duration::from_millis(50);

/// How a test ended.
pub enum Ended {
    /// By itself.
    With(ExitStatus),
    /// It took too long.
    TimedOut,
    /// A signal came for us.
    Interrupted,
}

/// Runs `line` to its end, at most `patience` long, with one variable more in its environment. What it prints goes
/// nowhere. Returns how long it took, too.
pub fn run(
    line: &str,
    variable: Option<&(&'static str, OsString)>,
    patience: Duration,
    signals: &Signals,
) -> Result<(Ended, Duration), Failure> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Of its own, so that whatever it started can be ended with it.
    command.process_group(0);
    command.envs(variable.map(|(name, value)| (name, value)));
    let start = Instant::now();
    let mut child =
        command.spawn().map_err(|error| Failure::usage(format!("failed to start `/bin/sh`: {error}")))?;
    let group = Pid::from_raw(child.id() as i32);
    let (sender, receiver) = mpsc::channel();
    let waiter = thread::spawn(move || {
        let _ = sender.send(child.wait());
    });
    let ended = loop {
        match receiver.recv_timeout(BEAT.min(patience.saturating_sub(start.elapsed()))) {
            Ok(status) => break Ended::With(status?),
            Err(RecvTimeoutError::Disconnected) => break Ended::Interrupted,
            Err(RecvTimeoutError::Timeout) if signals.has_caught() => break Ended::Interrupted,
            Err(RecvTimeoutError::Timeout) if start.elapsed() >= patience => break Ended::TimedOut,
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    let time = start.elapsed();
    // Also what a test left behind when it ended: it would go on with a mutant active.
    let _ = killpg(group, Signal::SIGKILL);
    let _ = waiter.join();
    Ok((ended, time))
}
