//! Empties a folder, however deep and however strange.

use super::paths::step_into;
use nix::{
    dir::{Dir, Type},
    errno::Errno,
    fcntl::{AtFlags, OFlag, renameat},
    sys::stat::{FchmodatFlags, Mode, SFlag, fchmodat, fstatat},
    unistd::{UnlinkatFlags, unlinkat},
};
use std::{
    ffi::{CString, OsStr},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
};

/// Removes everything below `root`.
///
/// A target can nest folders deeper than descriptors or stack last. So nothing recurses: the folders found in a
/// folder are moved up to the root first, and are met there in the next round.
pub(super) fn wipe(root: &OwnedFd) -> nix::Result<()> {
    let mut n_moved = 0u64;
    loop {
        let entries = entries(root)?;
        if entries.is_empty() {
            return Ok(());
        }
        for (name, is_folder) in entries {
            let name = name.as_c_str();
            if !is_folder {
                unlinkat(root, name, UnlinkatFlags::NoRemoveDir)?;
                continue;
            }
            if unlinkat(root, name, UnlinkatFlags::RemoveDir).is_ok() {
                continue;
            }
            // Its owner may have taken all rights from it.
            let _ = fchmodat(root, name, Mode::S_IRWXU, FchmodatFlags::FollowSymlink);
            let folder = step_into(root, name.to_bytes())?;
            empty_into(root, &folder, &mut n_moved)?;
            unlinkat(root, name, UnlinkatFlags::RemoveDir)?;
        }
    }
}

fn empty_into(root: &OwnedFd, folder: &OwnedFd, n_moved: &mut u64) -> nix::Result<()> {
    for (name, is_folder) in entries(folder)? {
        let name = name.as_c_str();
        if !is_folder {
            unlinkat(folder, name, UnlinkatFlags::NoRemoveDir)?;
            continue;
        }
        if unlinkat(folder, name, UnlinkatFlags::RemoveDir).is_ok() {
            continue;
        }
        let _ = fchmodat(folder, name, Mode::S_IRWXU, FchmodatFlags::FollowSymlink);
        loop {
            *n_moved += 1;
            let moved = format!(".cairn-{n_moved}");
            match renameat(folder, name, root, moved.as_str()) {
                // The target made a name like ours.
                Err(Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) => {}
                other => break other?,
            }
        }
    }
    Ok(())
}

/// The entries of a folder and whether each is a folder itself.
pub(super) fn entries(folder: &OwnedFd) -> nix::Result<Vec<(CString, bool)>> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut found = Vec::new();
    for entry in Dir::openat(folder, ".", flags, Mode::empty())?.iter() {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes() == b"." || name.to_bytes() == b".." {
            continue;
        }
        let is_folder = match entry.file_type() {
            Some(kind) => kind == Type::Directory,
            None => {
                let status =
                    fstatat(folder, OsStr::from_bytes(name.to_bytes()), AtFlags::AT_SYMLINK_NOFOLLOW)?;
                SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT == SFlag::S_IFDIR
            }
        };
        found.push((name.to_owned(), is_folder));
    }
    Ok(found)
}
