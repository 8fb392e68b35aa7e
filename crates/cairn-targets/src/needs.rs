//! Debian packages that only some targets need, installed when they are.

use crate::{Cache, error::TargetsError};
use std::process::{Command, Stdio};

/// Makes sure Debian packages are there that `scripts/setup` does not install.
///
/// Installs what is missing if this process may, and says so; otherwise the error names the command that would.
pub fn need(cache: &Cache, packages: &[&str]) -> Result<(), TargetsError> {
    let is_installed = |package: &&str| {
        let output = Command::new("dpkg-query").args(["-W", "-f=${db:Status-Status}", package]).output();
        output.is_ok_and(|output| output.stdout == b"installed")
    };
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    (cache.say)(&format!("installing {}", missing.join(" ")));
    let status = Command::new("apt-get")
        .args(["install", "-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"])
        .args(&missing)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(TargetsError::NotInstalled { packages: missing.join(" ") }),
    }
}
