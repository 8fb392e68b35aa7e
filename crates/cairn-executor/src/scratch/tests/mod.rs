//! A scratch folder the tests can also reach by path, playing the target.

mod layout;
mod property;
mod refresh;
mod watch;

use super::*;
use cairn_model::{
    input::{Bytes, FileKind},
    outcome::FileChange,
};
use std::{
    fs,
    os::{
        fd::{AsRawFd, FromRawFd},
        unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};
use tempfile::TempDir;

struct Folder {
    path: PathBuf,
    scratch: Scratch,
    /// What the path leads through.
    _holds: (Option<TempDir>, Option<OwnedFd>),
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::File::open(folder.path()).unwrap().into();
        Self {
            scratch: Scratch::new(root, None).unwrap(),
            path: folder.path().into(),
            _holds: (Some(folder), None),
        }
    }

    /// On a file system that is mounted nowhere and reachable only by descriptor, where reading leaves access times
    /// alone. An ordinary folder where this process may not mount.
    fn mounted_apart() -> Self {
        let Some(root) = detached_tmpfs() else { return Self::new() };
        let path = format!("/proc/self/fd/{}", root.as_raw_fd()).into();
        let scratch = Scratch::new(root.try_clone().unwrap(), None).unwrap();
        Self { scratch, path, _holds: (None, Some(root)) }
    }

    fn watched() -> Self {
        let mut folder = Self::new();
        folder.scratch.watch().expect("folders can be watched");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Lays out `files`, lets `change` act as the target, and tells the changes, one a line.
    fn changes(&mut self, files: &[FileRegion], change: impl FnOnce(&Path)) -> String {
        let layout = self.scratch.prepare(files).unwrap();
        change(&self.path);
        self.collected(&layout, files)
    }

    /// The changes since `layout`, one a line.
    fn collected(&self, layout: &Layout, files: &[FileRegion]) -> String {
        let changes = self.scratch.collect(layout, files, 8).unwrap();
        changes.files.iter().map(|(path, change)| format!("{path}: {}\n", describe(change))).collect()
    }
}

fn detached_tmpfs() -> Option<OwnedFd> {
    let noatime = libc::MOUNT_ATTR_NOATIME;
    // SAFETY: the strings are C strings; the descriptors are new and owned by nobody else.
    unsafe {
        let context = libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), libc::FSOPEN_CLOEXEC);
        if context < 0 {
            return None;
        }
        let context = OwnedFd::from_raw_fd(context as i32);
        let (fd, create) = (context.as_raw_fd(), libc::FSCONFIG_CMD_CREATE);
        let none = std::ptr::null::<u8>();
        if libc::syscall(libc::SYS_fsconfig, fd, create, none, none, 0) < 0 {
            return None;
        }
        let mount = libc::syscall(libc::SYS_fsmount, fd, libc::FSMOUNT_CLOEXEC, noatime);
        if mount < 0 {
            return None;
        }
        // What comes back leads only to the place; listing needs an ordinary descriptor.
        let mount = OwnedFd::from_raw_fd(mount as i32);
        fs::File::open(format!("/proc/self/fd/{}", mount.as_raw_fd())).ok().map(OwnedFd::from)
    }
}

fn describe(change: &FileChange) -> String {
    match change {
        FileChange::Written { content, mode } => {
            format!("{:?} of {} mode={mode:o}", content.bytes, content.total)
        }
        FileChange::Folder => "folder".into(),
        FileChange::Link { target } => format!("-> {target:?}"),
        FileChange::Special { kind, mode } => format!("{kind} mode={mode:o}"),
        FileChange::Removed => "removed".into(),
    }
}

fn region(path: &str, kind: FileKind) -> FileRegion {
    FileRegion {
        path: path.into(),
        kind,
        mode: None,
        size: None,
        modified: None,
        accessed: None,
        owner: None,
    }
}

fn file(path: &str, content: &str) -> FileRegion {
    region(path, FileKind::Regular(content.into()))
}
