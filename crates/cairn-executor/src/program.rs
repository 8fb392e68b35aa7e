//! How the target's user reaches the program.
//!
//! When the executor runs as root, targets run as another user, who may not be able to enter the folder the
//! program lies in. Then the folder is bound to a place they can reach, or, without namespaces, the program is
//! executed through a descriptor opened beforehand. A program only root may read is copied, and the copy
//! executed through a descriptor.

use crate::error::ExecutorError;
use std::{
    ffi::OsStr,
    fs, io,
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt, fs::PermissionsExt},
    },
    path::{Path, PathBuf},
};

/// A program and the way to it.
#[derive(Debug)]
pub(crate) struct Program {
    /// As the caller named it.
    pub(crate) given: PathBuf,
    /// Absolute, links resolved.
    pub(crate) path: PathBuf,
    /// The program's file name, its argument 0.
    pub(crate) name: Vec<u8>,
    pub(crate) access: Access,
}

/// Ways to a program.
#[derive(Debug)]
pub(crate) enum Access {
    /// By its path.
    Path,
    /// Its folder is bound elsewhere.
    BoundFolder,
    /// By this descriptor.
    Descriptor(OwnedFd),
}

impl Program {
    /// Looks at `given` and decides how users without privileges get to it.
    pub(crate) fn find(
        given: &Path,
        changes_user: bool,
        has_namespaces: bool,
        base: &Path,
    ) -> Result<Self, ExecutorError> {
        let wrong = |source| ExecutorError::Program { program: given.to_path_buf(), source };
        let path = given.canonicalize().map_err(wrong)?;
        let metadata = path.metadata().map_err(wrong)?;
        if !metadata.is_file() {
            return Err(wrong(io::Error::other("it is not a regular file")));
        }
        if metadata.permissions().mode() & 0o111 == 0 {
            return Err(wrong(io::Error::other("it is not executable")));
        }
        let name = given.file_name().unwrap_or_else(|| OsStr::new("target")).as_bytes().to_vec();
        let access = if !changes_user {
            Access::Path
        } else if metadata.permissions().mode() & 0o005 != 0o005 {
            Access::Descriptor(copy(&path, base).map_err(wrong)?)
        } else if is_reachable(&path) {
            Access::Path
        } else if has_namespaces {
            Access::BoundFolder
        } else {
            Access::Descriptor(fs::File::open(&path).map_err(wrong)?.into())
        };
        Ok(Self { given: given.to_path_buf(), path, name, access })
    }

    /// The path to execute; empty when a descriptor is used. `bound_folder` is where the folder was bound.
    pub(crate) fn launch_path(&self, bound_folder: &Path) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default();
        match &self.access {
            Access::Path => self.path.clone(),
            Access::BoundFolder => bound_folder.join(name),
            Access::Descriptor(_) => PathBuf::new(),
        }
    }
}

fn is_reachable(path: &Path) -> bool {
    path.ancestors()
        .skip(1)
        .all(|folder| folder.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0))
}

/// A copy everybody may read. Only the descriptor is left of it, so that nothing stays behind.
fn copy(path: &Path, base: &Path) -> io::Result<OwnedFd> {
    let folder = tempfile::Builder::new().prefix("cairn-program-").tempdir_in(base)?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let copied = folder.path().join(path.file_name().unwrap_or_default());
    fs::copy(path, &copied)?;
    fs::set_permissions(&copied, fs::Permissions::from_mode(0o755))?;
    Ok(fs::File::open(&copied)?.into())
}
