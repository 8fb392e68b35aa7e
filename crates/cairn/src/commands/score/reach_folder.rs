//! A folder for what tests reach.

use nix::fcntl::{Flock, FlockArg};
use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// What the folders are called.
const PREFIX: &str = "reach-";

/// A folder that disappears with its owner. One that a killed process left is removed when the next is made.
#[derive(Debug)]
pub struct ReachFolder {
    path: PathBuf,
    /// Held as long as we live: a folder that nobody holds is a leftover.
    _lock: Flock<File>,
}

impl ReachFolder {
    /// Makes one in `parent`.
    pub fn new(parent: &Path) -> io::Result<Self> {
        remove_leftovers(parent)?;
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            // Between these two steps another process may have taken it for a leftover.
            let Some(lock) = lock(folder.path()) else { continue };
            return Ok(Self { path: folder.keep(), _lock: lock });
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ReachFolder {
    fn drop(&mut self) {
        // If that fails, the next one made here does it.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Holds a folder, if it is there and nobody does.
fn lock(path: &Path) -> Option<Flock<File>> {
    let lock = Flock::lock(File::open(path).ok()?, FlockArg::LockExclusiveNonblock).ok()?;
    let (held, there) = (lock.metadata().ok()?, fs::metadata(path).ok()?);
    ((held.dev(), held.ino()) == (there.dev(), there.ino())).then_some(lock)
}

fn remove_leftovers(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)?.filter_map(Result::ok) {
        if entry.file_name().to_string_lossy().starts_with(PREFIX)
            && let Some(_held) = lock(&entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_go_and_folders_in_use_stay() {
        let parent = tempfile::tempdir().unwrap();
        fs::create_dir(parent.path().join("reach-left")).unwrap();
        fs::write(parent.path().join("reach-left/0"), "").unwrap();
        fs::create_dir(parent.path().join("other")).unwrap();
        let first = ReachFolder::new(parent.path()).unwrap();
        let second = ReachFolder::new(parent.path()).unwrap();
        assert!(!parent.path().join("reach-left").exists() && parent.path().join("other").exists());
        assert!(first.path().is_dir() && second.path().is_dir());
        drop((first, second));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
