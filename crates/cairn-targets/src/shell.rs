//! Running shell commands with our tools first in the path.

use crate::{
    Cache,
    error::{TargetsError, Tried},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Lines of a failed command's output that an error repeats.
const TAIL: usize = 15;

impl Cache {
    /// Runs `script` in `folder` with the words of `variables` set, output appended to `cairn.log` there, and says
    /// how long it took.
    pub fn shell(
        &self,
        folder: &Path,
        script: &str,
        variables: &[(&str, &str)],
    ) -> Result<Duration, TargetsError> {
        let log = log_of(folder);
        let file = fs::OpenOptions::new().create(true).append(true).open(&log).tried("open", &log)?;
        let start = Instant::now();
        let status = self
            .command(folder, script, variables)
            .stdout(file.try_clone().tried("open", &log)?)
            .stderr(file)
            .status()
            .tried("start", "bash")?;
        if status.success() {
            return Ok(start.elapsed());
        }
        let text = String::from_utf8_lossy(&fs::read(&log).tried("read", &log)?).into_owned();
        Err(TargetsError::Command { script: script.into(), folder: folder.into(), status, tail: tail(&text) })
    }

    /// The command that [`Cache::shell`] runs, its output not yet said.
    fn command(&self, folder: &Path, script: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new("bash");
        command
            // The path is joined by the shell, which alone knows what is in the environment.
            .args(["-e", "-c", &format!("PATH=\"$CAIRN_TOOLS:$PATH\"; unset CAIRN_TOOLS\n{script}")])
            .current_dir(folder)
            .env("CAIRN_TOOLS", &self.tools)
            .env("LC_ALL", "C")
            // Configure scripts refuse to run as root without it.
            .env("FORCE_UNSAFE_CONFIGURE", "1")
            .envs(variables.iter().copied())
            .stdin(Stdio::null());
        command
    }
}

/// The last lines of what a command printed.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

/// Where the output of commands in `folder` goes.
pub(crate) fn log_of(folder: &Path) -> PathBuf {
    folder.join("cairn.log")
}
