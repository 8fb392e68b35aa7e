//! Everything a keeper needs, worked out before it is forked.

use std::{ffi::CString, os::fd::RawFd};

/// What a keeper does, in data it can use without allocating.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Namespaces to enter and the mounts to make there.
    pub namespaces: Option<NamespacePlan>,
    /// The scratch folder as the target sees it.
    pub scratch: CString,
    /// The scratch folder when it is an ordinary one: the keeper removes it when it leaves.
    pub left_folder: Option<CString>,
    /// Whether to give up privileges; not at level `off`.
    pub drops_privileges: bool,
    /// The user and group to change to when privileged.
    pub credentials: Option<(u32, u32)>,
    /// The system call filter; empty for none.
    pub filter: Vec<libc::sock_filter>,
    /// Resource limits in force from exec on.
    pub limits: Vec<(u32, u64)>,
    /// The program, when it is executed by descriptor rather than by path.
    pub program_fd: Option<RawFd>,
}

/// The namespaces of a keeper and its view of the file system.
#[derive(Debug)]
pub(crate) struct NamespacePlan {
    /// Whether a user namespace is part of it.
    pub has_user: bool,
    /// An empty folder; a tmpfs is mounted over it that holds all others.
    pub mount_point: CString,
    /// Mount options of that tmpfs.
    pub mount_options: CString,
    /// `<mount point>/dev`, bound over `/dev` at the end.
    pub dev: CString,
    /// Devices to bind: where from, where to.
    pub devices: Vec<(CString, CString)>,
    /// Links to make in `dev`: content, place.
    pub links: Vec<(CString, CString)>,
    /// `<mount point>/dev/shm`.
    pub shm: CString,
    /// `<mount point>/proc`, used for a moment.
    pub proc: CString,
    /// `<mount point>/proc/sys/kernel/ns_last_pid`.
    pub last_pid: CString,
    /// Where a program is shown that the target's user cannot reach.
    pub program: Option<ProgramMounts>,
}

/// A folder in which the target's user finds the program.
#[derive(Debug)]
pub(crate) struct ProgramMounts {
    /// The folder to make.
    pub folder: CString,
    /// The program's own folder, bound over it, if only the way to it is closed.
    pub whole: Option<CString>,
    /// Otherwise the program and the libraries beside it: where from, where to.
    pub files: Vec<(CString, CString)>,
}

/// Steps that can fail, for messages.
macro_rules! steps {
    ($first:ident = $first_text:literal, $($name:ident = $text:literal,)*) => {
        /// A step between forking a keeper and executing a target.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub(crate) enum Step { $first = 1, $($name,)* }

        impl Step {
            /// What the step does, as a noun phrase.
            pub(crate) fn text(number: u32) -> &'static str {
                if number == Self::$first as u32 { return $first_text; }
                $(if number == Self::$name as u32 { return $text; })*
                "an unnamed step"
            }
        }
    };
}

steps! {
    Descriptors = "arranging descriptors",
    Signals = "arranging signals",
    Subreaper = "adopting orphans",
    PrivateMounts = "making mounts private",
    MountScratch = "mounting the scratch folder",
    MakeScratch = "making the scratch folder",
    Devices = "binding devices",
    ProgramFolder = "binding the program's folder",
    MountProc = "mounting /proc",
    ReadOnly = "making the file system read-only",
    OpenScratch = "opening the scratch folder",
    Clone = "starting a process",
    Session = "starting a session",
    Bounding = "dropping capabilities",
    Groups = "leaving groups",
    User = "changing the user",
    NoNewPrivileges = "forbidding new privileges",
    Landlock = "entering Landlock",
    Limits = "setting limits",
    Filter = "installing the system call filter",
    Exec = "executing the program",
}
