//! The scratch folder itself, which outlives the runs that work in it.

use super::ROOT_MODE;
use nix::{
    errno::Errno,
    sys::stat::fchmod,
    unistd::{Gid, Uid, fchown},
};
use std::{
    ffi::{CStr, c_char},
    os::fd::{AsRawFd, OwnedFd},
};

/// Takes back what a run did to the folder: mode, owner, attributes, access lists. Times are set when the files are
/// laid out.
///
/// The mode comes first: with all rights taken from it, even its owner could not empty it.
pub(super) fn reset(root: &OwnedFd, owner: Option<(Uid, Gid)>) -> nix::Result<()> {
    fchmod(root, ROOT_MODE)?;
    remove_attributes(root)?;
    if let Some((user, group)) = owner {
        fchown(root, Some(user), Some(group))?;
    }
    // An access list changes what the mode means, and a change of owner may clear bits.
    fchmod(root, ROOT_MODE)
}

/// Access lists are attributes as well.
fn remove_attributes(root: &OwnedFd) -> nix::Result<()> {
    let fd = root.as_raw_fd();
    // SAFETY: with size 0 the kernel writes nothing and answers the size it needs.
    let size = match Errno::result(unsafe { libc::flistxattr(fd, std::ptr::null_mut(), 0) }) {
        Ok(0) | Err(Errno::ENOTSUP) => return Ok(()),
        size => size?,
    };
    let mut names = vec![0u8; size as usize];
    // SAFETY: the buffer is valid for its length.
    let n = Errno::result(unsafe { libc::flistxattr(fd, names.as_mut_ptr().cast::<c_char>(), names.len()) })?;
    for name in names[..n as usize].split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
        // SAFETY: the name is a C string.
        match Errno::result(unsafe { libc::fremovexattr(fd, name.as_ptr()) }) {
            // Labels of security modules belong to the system, and a target cannot set them.
            Err(Errno::EPERM | Errno::EACCES | Errno::ENODATA | Errno::ENOTSUP)
                if name.to_bytes().starts_with(b"security.") => {}
            result => result.map(drop)?,
        }
    }
    Ok(())
}
