//! Calls the instrumenter.

use super::build::{ViewError, ViewRequest, io_error};
use crate::{Settings, record::BuildRecord};
use std::{
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Lines of what the instrumenter says when it fails.
const LONGEST_MESSAGE: usize = 8;

/// Runs the instrumenter over the program's bitcode; `outputs` are the arguments that say what it is to make. `work` is a
/// folder for what it reads.
pub(super) fn instrument(
    settings: &Settings,
    record: &BuildRecord,
    request: &ViewRequest,
    outputs: &[OsString],
    work: &Path,
) -> Result<(), ViewError> {
    let program = &settings.distribution.instrument;
    let facts = record.facts_dir();
    fs::create_dir_all(&facts).map_err(|source| io_error("make", &facts, source))?;
    let mut command = Command::new(program);
    command.arg("--bitcode").arg(record.bitcode_path()).arg("--facts").arg(&facts);
    command.arg("--root").arg(request.root_of(record)).args(outputs);
    if let Some(scope) = &request.scope {
        let path = work.join("scope.json");
        fs::write(&path, scope).map_err(|source| io_error("write", &path, source))?;
        command.arg("--scope").arg(path);
    }
    let output =
        command.stdin(Stdio::null()).output().map_err(|source| io_error("start", program, source))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // The cause stands first; what follows would push it off the screen.
    let said: Vec<&str> = said.trim().trim_start_matches("error: ").lines().take(LONGEST_MESSAGE).collect();
    let message = if said.is_empty() { output.status.to_string() } else { said.join("\n") };
    Err(ViewError::Instrument { bitcode: record.bitcode_path(), message })
}
