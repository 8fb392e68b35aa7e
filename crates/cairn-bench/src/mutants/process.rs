//! One process for each mutant: what one does without sessions and fuel.

use anyhow::{Context, Result};
use cairn_model::{Input, StableId, input::FileKind};
use std::{
    fs::{self, File},
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    os::unix::{ffi::OsStringExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command},
    time::{Duration, Instant},
};

/// A folder with an input's files, in which processes run one after the other. In memory, and laid out once: kinder
/// than what a test suite does.
pub struct Folder<'a> {
    input: &'a Input,
    name: &'a str,
    path: PathBuf,
}

impl<'a> Folder<'a> {
    /// Lays out the files of `input`; `None` if it has other things than plain files.
    pub fn of(input: &'a Input, name: &'a str) -> Result<Option<Self>> {
        let path = Path::new("/dev/shm").join(format!("cairn-bench-mutants-{}", std::process::id()));
        let folder = Self { input, name, path };
        fs::create_dir_all(folder.path.join("work"))?;
        fs::write(folder.path.join("stdin"), &input.stdin.0)?;
        for file in &input.files {
            let FileKind::Regular(content) = &file.kind else { return Ok(None) };
            let path = folder.path.join("work").join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, &content.0)?;
        }
        Ok(Some(folder))
    }

    /// Runs the mutant view as a process of its own, with a mutant active or none; ended after `limit`. Returns how long
    /// it took.
    pub fn run(&self, view: &Path, mutant: Option<StableId>, limit: Duration) -> Result<Duration> {
        let words = self.input.args.iter().map(|word| std::ffi::OsString::from_vec(word.0.clone()));
        let mut command = Command::new(view);
        command
            .arg0(self.name)
            .args(words)
            .current_dir(self.path.join("work"))
            .env_clear()
            .envs(
                self.input
                    .environment
                    .iter()
                    .map(|(name, value)| (name.clone(), std::ffi::OsString::from_vec(value.0.clone()))),
            )
            .envs([("LC_ALL", self.input.setting.locale.as_str()), ("TZ", "UTC")])
            .stdin(File::open(self.path.join("stdin"))?)
            .stdout(File::create(self.path.join("stdout"))?)
            .stderr(File::create(self.path.join("stderr"))?);
        if let Some(mutant) = mutant {
            command.env("CAIRN_MUTANT", mutant.to_string());
        }
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("failed to start `{}`", view.display()))?;
        wait(&mut child, limit)?;
        Ok(start.elapsed())
    }
}

impl Drop for Folder<'_> {
    fn drop(&mut self) {
        // A mutant may have left anything there; the next folder has the same name.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Waits for a process, without asking again and again, and ends it after `limit`.
fn wait(child: &mut Child, limit: Duration) -> Result<()> {
    // SAFETY: the call takes two numbers and returns a new descriptor or -1.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
    let descriptor = i32::try_from(descriptor).ok().filter(|number| *number >= 0);
    let descriptor = descriptor.context("failed to watch a process")?;
    // SAFETY: the descriptor is new and ours.
    let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let mut wanted = libc::pollfd { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let limit = libc::timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos().into() };
    // SAFETY: one descriptor is watched, and both structures outlive the call.
    let n_ready = unsafe { libc::ppoll(&raw mut wanted, 1, &raw const limit, std::ptr::null()) };
    if n_ready == 0 {
        child.kill()?;
    }
    child.wait()?;
    Ok(())
}
