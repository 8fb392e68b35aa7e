//! Paths inside the scratch folder.

use crate::error::ExecutorError;
use nix::{
    fcntl::{OFlag, openat},
    sys::stat::Mode,
};
use std::{
    ffi::OsStr,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
};

/// The names on the way to `path`, which must stay inside.
pub(super) fn components(path: &str) -> Result<Vec<&str>, ExecutorError> {
    let wrong = |reason| ExecutorError::BadPath { path: path.to_string(), reason };
    if path.is_empty() {
        return Err(wrong("has an empty path"));
    }
    if path.starts_with('/') {
        return Err(wrong("has an absolute path; paths are relative to the scratch folder"));
    }
    if path.contains('\0') {
        return Err(wrong("has a zero byte in its path"));
    }
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if names.contains(&"..") {
        return Err(wrong("leaves the scratch folder through `..`"));
    }
    if names.is_empty() {
        return Err(wrong("names the scratch folder itself"));
    }
    Ok(names)
}

/// Opens a folder below `root`, following no link.
pub(super) fn open_folder<N: AsRef<[u8]>>(root: &OwnedFd, names: &[N]) -> nix::Result<OwnedFd> {
    let mut folder = openat(root, ".", OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
    for name in names {
        folder = step_into(&folder, name.as_ref())?;
    }
    Ok(folder)
}

/// Opens the folder `name` inside `folder` for use as a starting point.
pub(super) fn step_into(folder: &impl AsFd, name: &[u8]) -> nix::Result<OwnedFd> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    openat(folder, OsStr::from_bytes(name), flags, Mode::empty())
}
