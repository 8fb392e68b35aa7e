//! Small repairs of a folder that is otherwise as it was laid out.

use super::materialise::{DEFAULT_TIME, Layout};
use cairn_model::input::FileRegion;
use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, openat2},
    sys::{
        stat::{UtimensatFlags, fstatat, futimens, utimensat},
        time::{TimeSpec, TimeValLike},
    },
};
use std::{
    ffi::{CStr, OsStr},
    fs::File,
    io::{self, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
};

/// Gives the regular file at `path`, now `size` bytes long, another content and the times of its region.
pub(super) fn rewrite(
    root: &OwnedFd,
    path: &CStr,
    region: &FileRegion,
    size: i64,
    content: &[u8],
) -> io::Result<()> {
    // Should a pipe lie there after all, opening it must not wait for a reader.
    let flags = OFlag::O_WRONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let inside = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
    let mut file = File::from(openat2(root, path, OpenHow::new().flags(flags).resolve(inside))?);
    file.write_all(content)?;
    // Cutting afterwards keeps the memory of the file, which truncating first would return and ask for again.
    if (content.len() as i64) < size {
        file.set_len(content.len() as u64)?;
    }
    let time = |given: Option<i64>| TimeSpec::seconds(given.unwrap_or(DEFAULT_TIME));
    Ok(futimens(&file, &time(region.accessed), &time(region.modified))?)
}

/// Takes back what reading did to access times, and says whether there was anything to do.
pub(super) fn restore_access_times(root: &OwnedFd, layout: &Layout) -> nix::Result<bool> {
    let whole = (DEFAULT_TIME, 0);
    let itself = (OsStr::new("."), (whole, whole));
    let below = layout.entries.iter().map(|(path, entry)| (OsStr::from_bytes(path), entry.times));
    let mut has_restored = false;
    for (path, (accessed, modified)) in std::iter::once(itself).chain(below) {
        let status = match fstatat(root, path, AtFlags::AT_SYMLINK_NOFOLLOW) {
            // In a folder closed to its owner, so nobody has read it.
            Err(Errno::EACCES) => continue,
            status => status?,
        };
        if (status.st_atime, status.st_atime_nsec) != accessed {
            let time = |(seconds, nanoseconds)| TimeSpec::new(seconds, nanoseconds);
            utimensat(root, path, &time(accessed), &time(modified), UtimensatFlags::NoFollowSymlink)?;
            has_restored = true;
        }
    }
    Ok(has_restored)
}
