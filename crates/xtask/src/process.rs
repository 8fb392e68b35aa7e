//! Running other programs.

use anyhow::{Context, bail};
use std::process::{Command, Stdio};

/// Runs `command` and fails with its command line when it does.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("failed to start `{}`", text(command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", text(command));
    }
    Ok(())
}

/// Runs `command` and returns what it prints.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("failed to start `{}`", text(command)))?;
    if !output.status.success() {
        bail!("`{}` failed: {}", text(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{}` printed no text", text(command)))
}

fn text(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
