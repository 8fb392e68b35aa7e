//! Debian packages that only some targets need, installed when they are.

use crate::{Cache, error::TargetsError, shell::tail};
use std::process::{Command, Stdio};

/// Makes sure that Debian packages are there.
///
/// Installs what is missing if this process may, and says so; otherwise the error repeats what `apt-get` said and names
/// the command that would.
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
    let install = || {
        let options = ["install", "-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
        apt_get(options.iter().chain(&missing))
    };
    // The lists of a machine that was made some time ago name versions that mirrors no longer have.
    install()
        .or_else(|_| apt_get(["update", "-qq"].iter()).and_then(|()| install()))
        .map_err(|printed| TargetsError::NotInstalled { packages: missing.join(" "), tail: tail(&printed) })
}

/// Fails with what it printed.
fn apt_get<'a>(words: impl Iterator<Item = &'a &'a str>) -> Result<(), String> {
    let output = Command::new("apt-get")
        .args(words)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .map_err(|error| format!("failed to start `apt-get`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_apt_get_says_is_kept() {
        let said = apt_get(["nonsense-step"].iter()).unwrap_err();
        // On a machine without it, that is what is said.
        assert!(said.contains("nonsense-step") || said.contains("failed to start `apt-get`"), "{said}");
    }
}
