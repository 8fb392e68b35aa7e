//! Processes that tests leave behind.
//!
//! A test's process group is not all of it: a daemon has a session of its own. So whatever loses its parent becomes a
//! child of ours, and after each test every child is ended.

use crate::failure::Failure;
use nix::{
    errno::Errno,
    sys::{
        prctl,
        signal::{Signal, kill},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Pid, getpid},
};
use std::{
    collections::BTreeSet,
    fs, thread,
    time::{Duration, Instant},
};

/// How long processes may take to die.
const PATIENCE: Duration = Duration::from_secs(10);

/// Between two looks at processes that are dying.
const PAUSE: Duration = Duration::from_millis(1);

/// Makes this process the parent of all orphans among its descendants, from now on.
#[derive(Debug)]
pub struct Orphans {
    /// Children that we had before, such as those of a shell that became this process. They are not ours to end.
    before: BTreeSet<i32>,
}

impl Orphans {
    /// From now on.
    pub fn adopt() -> Result<Self, Failure> {
        prctl::set_child_subreaper(true).map_err(std::io::Error::from)?;
        Ok(Self { before: children()?.into_iter().collect() })
    }

    /// Ends every process that was started since, and whatever those started. None of them may be waited for elsewhere.
    pub fn end_all(&self) -> Result<(), Failure> {
        let start = Instant::now();
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Err(Errno::ECHILD) => return Ok(()),
                Ok(WaitStatus::StillAlive) => {}
                // One less, or a call that was interrupted.
                _ => continue,
            }
            let left: Vec<i32> = children()?.into_iter().filter(|pid| !self.before.contains(pid)).collect();
            if left.is_empty() {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(Failure::unbelievable(format!(
                    "no score: process {} of a test cannot be ended, and may go on with a mutant active",
                    left[0]
                )));
            }
            for pid in left {
                // A child that nobody has waited for keeps its number.
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The children of this process.
fn children() -> Result<Vec<i32>, Failure> {
    let own = getpid().as_raw();
    let entries = fs::read_dir("/proc")?.filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    Ok(pids.filter(|pid| parent(*pid) == Some(own)).collect())
}

fn parent(pid: i32) -> Option<i32> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The name in parentheses may hold anything; then come the state and the parent.
    text.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
