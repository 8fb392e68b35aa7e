//! The Landlock layer: files outside the scratch folder can be read and executed, nothing else.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use std::os::fd::{BorrowedFd, OwnedFd};

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
