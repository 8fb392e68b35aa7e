//! The Landlock layer: files outside the scratch folder can be read and executed, nothing else.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use std::{
    fs::File,
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    path::Path,
};

/// The newest version whose rights are used; the kernel takes of them what it knows.
const NEWEST: ABI = ABI::V6;

/// The version the kernel has; 0 for none.
///
/// Asked by system call: `/sys/kernel/security` is often not mounted.
pub(crate) fn abi() -> u32 {
    const VERSION: usize = 1;
    // SAFETY: with this flag the call takes no memory and returns the version.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0usize, 0usize, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// Rules that let a target write below `scratch` only; `None` if the kernel has no Landlock.
pub(crate) fn rules(
    scratch: BorrowedFd<'_>,
) -> Result<Option<OwnedFd>, Box<dyn std::error::Error + Send + Sync>> {
    let everything = AccessFs::from_all(NEWEST);
    let device: BitFlags<AccessFs> =
        AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut rules = Ruleset::default()
        .handle_access(everything)?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::from_read(NEWEST)))?
        .add_rule(PathBeneath::new(scratch, everything))?;
    for path in ["/dev/null", "/dev/zero", "/dev/full"] {
        if let Ok(file) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(file, device))?;
        }
    }
    Ok(rules.into())
}

/// Keeps a process and everything it starts from writing outside one folder, from connecting anywhere, and from signals to
/// others: for tools that run generated inputs without containing them.
#[derive(Debug)]
pub struct Fence(OwnedFd);

impl Fence {
    /// Around a folder.
    pub fn around(folder: &Path) -> io::Result<Self> {
        let open = File::open(folder)?;
        match rules(open.as_fd()) {
            Ok(Some(rules)) => Ok(Self(rules)),
            Ok(None) => Err(io::Error::new(io::ErrorKind::Unsupported, "this kernel has no Landlock")),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// For the calling process, for good. Allocates nothing, so that it can be called between fork and exec.
    pub fn enter(&self) -> io::Result<()> {
        // SAFETY: the call takes numbers only.
        let is_set = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0;
        // SAFETY: likewise; the descriptor is open as long as `self` lives.
        let is_entered =
            is_set && unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.0.as_raw_fd(), 0) } == 0;
        if is_entered { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{os::unix::process::CommandExt, process::Command};

    #[test]
    fn a_fence_keeps_writes_inside() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("kept"), "as it was").unwrap();
        let fence = match Fence::around(inside.path()) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return,
            fence => fence.unwrap(),
        };
        let mut command = Command::new("sh");
        command.args(["-c", "echo in > \"$1/new\"; rm \"$2/kept\"; echo out > \"$2/new\"", "sh"]);
        command.args([inside.path(), outside.path()]);
        // SAFETY: two system calls, no memory of ours.
        unsafe { command.pre_exec(move || fence.enter()) };
        command.output().unwrap();
        assert!(inside.path().join("new").exists());
        assert!(outside.path().join("kept").exists() && !outside.path().join("new").exists());
    }
}
