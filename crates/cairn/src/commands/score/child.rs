//! Runs one test: a line of shell, in a process group of its own.

use super::orphans::Orphans;
use crate::{failure::Failure, report::score::Stopped, signals::Signals};
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

/// What ends a test that does not end by itself.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// How long it may take; for ever without one.
    pub patience: Option<Duration>,
    /// When the whole score ends.
    pub deadline: Option<Instant>,
    /// Signals for us.
    pub signals: &'a Signals,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    With(ExitStatus),
    /// It took too long.
    TimedOut,
    /// The score ends, and nothing follows for the test.
    Stopped(Stopped),
}

impl Ended {
    /// Whether it ended by itself, and well.
    pub fn has_passed(&self) -> bool {
        matches!(self, Self::With(status) if status.success())
    }
}

/// A test that has ended.
pub struct Tested {
    /// How.
    pub ended: Ended,
    /// How long it took.
    pub time: Duration,
}

/// Runs `line` to its end, within limits, with one variable more in its environment. What it prints goes nowhere, and
/// nothing it started is left.
pub fn run(
    line: &str,
    variable: Option<&(&'static str, OsString)>,
    limits: Limits<'_>,
    orphans: &Orphans,
) -> Result<Tested, Failure> {
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
        match receiver.recv_timeout(limits.next_look(start)) {
            Ok(status) => break Ended::With(status?),
            Err(RecvTimeoutError::Disconnected) => break Ended::Stopped(Stopped::Signal),
            Err(RecvTimeoutError::Timeout) => match limits.reached(start) {
                Some(ended) => break ended,
                None => continue,
            },
        }
    };
    let time = start.elapsed();
    // Also what a test left behind when it ended: it would go on with a mutant active.
    let _ = killpg(group, Signal::SIGKILL);
    let _ = waiter.join();
    orphans.end_all()?;
    Ok(Tested { ended, time })
}

impl Limits<'_> {
    /// Whether the score ends, and why.
    pub fn stopped(&self) -> Option<Stopped> {
        if self.signals.has_caught() {
            return Some(Stopped::Signal);
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late.then_some(Stopped::Budget)
    }

    fn next_look(&self, start: Instant) -> Duration {
        let patience = self.patience.map(|patience| patience.saturating_sub(start.elapsed()));
        let deadline = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        [patience, deadline].into_iter().flatten().fold(BEAT, Duration::min)
    }

    fn reached(&self, start: Instant) -> Option<Ended> {
        if let Some(stopped) = self.stopped() {
            return Some(Ended::Stopped(stopped));
        }
        let is_out_of_patience = self.patience.is_some_and(|patience| start.elapsed() >= patience);
        is_out_of_patience.then_some(Ended::TimedOut)
    }
}
