//! The folder for inputs, and the hidden one inside it where recorders work.

use super::recorder;
use crate::failure::Failure;
use cairn_recorder::Settings;
use nix::fcntl::{Flock, FlockArg};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// What the names of our hidden folders start with.
const PREFIX: &str = ".recording-";

/// The folders of one recording. The hidden one goes with it.
#[derive(Debug)]
pub struct Session {
    /// The folder for inputs.
    pub into: PathBuf,
    /// The hidden folder: the journal, and inputs half written. On the same file system, so that they can be renamed.
    pub folder: PathBuf,
    /// Addresses of the inputs that were there before.
    pub was_there: BTreeSet<String>,
    _lock: Flock<File>,
}

impl Session {
    /// Makes both folders, and removes what killed recordings left there.
    pub fn open(into: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::usage(format!("failed to prepare the folder `{}`: {error}", into.display()))
        };
        fs::create_dir_all(into).map_err(failed)?;
        let into = into.canonicalize().map_err(failed)?;
        if into.to_str().is_none() {
            return Err(Failure::usage(format!("the path `{}` is not UTF-8", into.display())));
        }
        let mut was_there = BTreeSet::new();
        for entry in fs::read_dir(&into).map_err(failed)?.flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(PREFIX) && try_lock(&path).is_some() {
                let _ = fs::remove_dir_all(&path);
            } else if let Some(address) = name.strip_suffix(".json") {
                was_there.insert(address.to_string());
            }
        }
        let folder = into.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&folder).map_err(failed)?;
        let lock = try_lock(&folder)
            .ok_or_else(|| Failure::usage(format!("failed to lock the folder `{}`", folder.display())))?;
        Ok(Self { into, folder, was_there, _lock: lock })
    }

    /// A folder for `PATH` in which the recorder is called `name`.
    pub fn folder_with_recorder(&self, name: &str, settings: &Settings) -> Result<PathBuf, Failure> {
        if name.is_empty() || name.contains('/') || name == "." || name == ".." {
            return Err(Failure::usage(format!("`{name}` is not a name that can be found in `PATH`")));
        }
        let folder = self.folder.join("bin");
        fs::create_dir(&folder)?;
        recorder::write(&folder.join(name), settings, 0o755)?;
        Ok(folder)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A lock that ends with its process, however that ends.
fn try_lock(folder: &Path) -> Option<Flock<File>> {
    Flock::lock(File::open(folder).ok()?, FlockArg::LockExclusiveNonblock).ok()
}
