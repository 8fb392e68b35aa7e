//! Runs a command within a limit of processor time, of everything it starts.

use crate::{description::Times, error::ExperimentError};
use cairn_executor::{sandbox::Fence, tree_time};
use nix::{
    sched::{CpuSet, sched_setaffinity},
    sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, killpg, sigaction},
    unistd::Pid,
};
use std::{
    collections::BTreeMap,
    fs::File,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How often time is looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// How long a command that was asked to end may take.
const GRACE: Duration = Duration::from_secs(10);

/// A run that gets so little of its processor is ended.
const MOST_WALL_FOR_CPU: u32 = 20;

/// What a command used, and how it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) status: ExitStatus,
}

/// Where a command runs.
pub(crate) struct Place<'a> {
    /// On this core alone.
    pub(crate) core: Option<usize>,
    /// It and everything it starts may write here alone.
    pub(crate) folder: Option<&'a Path>,
    /// What it prints goes here.
    pub(crate) log: &'a Path,
}

/// Runs a command until it ends or its time is over.
pub(crate) fn run(
    words: &[String],
    environment: &BTreeMap<String, String>,
    times: Times,
    place: Place<'_>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Option<Used>, ExperimentError> {
    let start_failed = |source| ExperimentError::Start { command: words.join(" "), source };
    let output = File::create(place.log).map_err(ExperimentError::file("make", place.log))?;
    let errors = output.try_clone().map_err(ExperimentError::file("write", place.log))?;
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(&words[1..]).envs(environment).stdin(Stdio::null()).stdout(output).stderr(errors);
    command.process_group(0);
    // SAFETY: one system call, no memory of ours.
    unsafe { command.pre_exec(listen) };
    if let Some(core) = place.core {
        // SAFETY: one system call, no memory of ours.
        unsafe { command.pre_exec(move || pin(core)) };
    }
    if let Some(folder) = place.folder {
        let fence = Fence::around(folder).map_err(|source| ExperimentError::Contain { source })?;
        // SAFETY: two system calls, no memory of ours.
        unsafe { command.pre_exec(move || fence.enter()) };
    }
    let start = Instant::now();
    let mut child = command.spawn().map_err(start_failed)?;
    let id = child.id();
    let group = Pid::from_raw(id as i32);
    let mut cpu = Duration::ZERO;
    let mut asked_at: Option<Instant> = None;
    let mut was_stopped = false;
    let status = loop {
        // Before it is waited for, because then its time is gone.
        cpu = cpu.max(tree_time(id));
        if let Some(status) = child.try_wait().map_err(start_failed)? {
            break status;
        }
        was_stopped |= is_stopped();
        let wall = start.elapsed();
        let wall_limit = times.wall.or(times.cpu.map(|limit| limit * MOST_WALL_FOR_CPU));
        let is_over = times.cpu.is_some_and(|limit| cpu >= limit)
            || wall_limit.is_some_and(|limit| wall >= limit)
            || was_stopped;
        match asked_at {
            None if is_over => {
                let _ = killpg(group, Signal::SIGINT);
                asked_at = Some(Instant::now());
            }
            Some(at) if at.elapsed() > GRACE => {
                let _ = killpg(group, Signal::SIGKILL);
            }
            _ => {}
        }
        thread::sleep(GLANCE);
    };
    // Whatever it left behind.
    let _ = killpg(group, Signal::SIGKILL);
    Ok((!was_stopped).then(|| Used { wall: start.elapsed(), cpu, status }))
}

/// Whoever starts us may have us ignore what an arm is asked to end by, as shells do in the background; it would then have more time.
fn listen() -> std::io::Result<()> {
    let usual = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default action has no code of ours.
    unsafe { sigaction(Signal::SIGINT, &usual) }?;
    Ok(())
}

fn pin(core: usize) -> std::io::Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &cores)?)
}
