//! How runs are contained, in layers that can be probed one by one.
//!
//! 1. *Namespaces*: user, mount, pid, net and ipc. The file system is read-only but for a tmpfs scratch folder;
//!    `/dev` holds a few harmless devices; `/proc` shows only the run; there is no network.
//! 2. *Landlock*: the best version the kernel has; only the scratch folder can be written.
//! 3. *Seccomp*: the calls listed in `policy.rs` are refused or end the run.
//!
//! Level `full` uses all layers there are; it needs 1 and 3, or 2 and 3 with Landlock 6. Level `basic` uses 2 and 3,
//! and namespaces only where the kernel has no Landlock. At both levels a target has no capabilities
//! and cannot gain privileges, and if the executor is root it runs as user 65534, so that the limit on processes
//! binds it.

pub(crate) mod landlock;
pub(crate) mod policy;
mod probe;
pub(crate) mod seccomp;

use crate::config::SandboxLevel;

pub use self::landlock::Fence;
pub use self::probe::{Layer, SandboxReport, probe};

/// The user and group targets get when the executor is root.
pub const UNPRIVILEGED: (u32, u32) = (65534, 65534);

/// The Landlock version from which it can stand in for namespaces: it bounds signals and abstract sockets.
pub const LANDLOCK_FOR_FULL: u32 = 6;

/// The Landlock version with which `level` can do without namespaces.
pub(crate) fn landlock_needed(level: SandboxLevel) -> u32 {
    match level {
        SandboxLevel::Off => 0,
        SandboxLevel::Basic => 1,
        SandboxLevel::Full => LANDLOCK_FOR_FULL,
    }
}

/// Whether `level` uses namespaces if it can.
pub(crate) fn wants_namespaces(level: SandboxLevel, landlock_abi: u32) -> bool {
    level == SandboxLevel::Full || landlock_abi < landlock_needed(level)
}

/// The layers one executor uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Namespaces are entered.
    pub has_namespaces: bool,
    /// The Landlock version in force; 0 for none.
    pub landlock_abi: u32,
    /// The system call filter is installed.
    pub has_filter: bool,
}

impl std::fmt::Display for Layers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if self.has_namespaces {
            parts.push("namespaces".to_string());
        }
        if self.landlock_abi > 0 {
            parts.push(format!("Landlock {}", self.landlock_abi));
        }
        if self.has_filter {
            parts.push("seccomp".to_string());
        }
        if parts.is_empty() {
            parts.push("nothing".to_string());
        }
        f.write_str(&parts.join(", "))
    }
}
