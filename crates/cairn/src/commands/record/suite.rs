//! Runs the suite.

use crate::{failure::Failure, signals::Signals};
use std::{
    env,
    ffi::{OsStr, OsString},
    io::stderr,
    os::fd::AsFd,
    path::Path,
    process::{Command, ExitStatus, Stdio},
};

/// Runs `command` to its end. Its standard output goes to our standard error, because ours is for the result.
pub fn run(
    command: &[OsString],
    search_path: Option<&Path>,
    signals: &Signals,
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
    signals.pass_to(child.id());
    let status = child.wait();
    signals.keep();
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
