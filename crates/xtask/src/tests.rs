//! Tests and lints.

use crate::{
    dist, process, tidy,
    workspace::{Workspace, cargo},
};
use std::process::{Command, Stdio};

/// What becomes of a difference between expectation and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectations {
    /// It fails the test.
    Check,
    /// The result becomes the expectation.
    Accept,
}

/// Checks that the repository is tidy, which takes a moment; then assembles the distribution and runs every test.
pub fn run(workspace: &Workspace, arguments: &[String], expectations: Expectations) -> anyhow::Result<()> {
    tidy::run(workspace)?;
    dist::assemble(workspace, dist::Profile::Dev)?;
    let mut runner = cargo();
    if has_nextest() {
        runner.args(["nextest", "run"]);
    } else {
        runner.args(["test", "--lib", "--bins", "--tests"]);
    }
    if arguments.is_empty() {
        runner.arg("--workspace");
    }
    runner.current_dir(&workspace.root).args(arguments).env("CAIRN_DIST", workspace.target.join("dist"));
    if expectations == Expectations::Accept {
        runner.env("UPDATE_EXPECT", "1").env("INSTA_UPDATE", "always");
    }
    process::run(&mut runner)?;
    if arguments.is_empty() {
        process::run(cargo().current_dir(&workspace.root).args(["test", "--quiet", "--workspace", "--doc"]))?;
    }
    Ok(())
}

fn has_nextest() -> bool {
    let mut ask: Command = cargo();
    ask.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    ask.status().is_ok_and(|status| status.success())
}

/// Checks format and lints; warnings are errors.
pub fn lint(workspace: &Workspace) -> anyhow::Result<()> {
    process::run(cargo().current_dir(&workspace.root).args(["fmt", "--all", "--check"]))?;
    process::run(cargo().current_dir(&workspace.root).args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "--deny=warnings",
    ]))
}
