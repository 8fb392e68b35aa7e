//! A scratch folder without namespaces: an ordinary folder that must not stay behind.
//!
//! Three things remove it: the executor when it is dropped, the keeper when the executor is gone, and, should both
//! have been killed, the next executor that starts.

use crate::config::RunConfig;
use nix::fcntl::{Flock, FlockArg};
use std::{
    fs, io,
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};
use tempfile::TempDir;

/// Folders are called so, then the number of the process, then something random.
const PREFIX: &str = "cairn-scratch-";

/// The folder; dropping it removes it.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    folder: TempDir,
    /// Locked as long as the folder is in use.
    _lock: Flock<fs::File>,
}

impl ScratchFolder {
    /// Makes a folder, on a tmpfs if there is a roomy one, and removes those that nobody uses any more.
    pub(crate) fn new(config: &RunConfig) -> io::Result<Self> {
        let shm = Path::new("/dev/shm");
        let is_roomy = nix::sys::statvfs::statvfs(shm)
            .is_ok_and(|status| status.blocks_available() * status.fragment_size() >= config.scratch_limit);
        let is_tmpfs = nix::sys::statfs::statfs(shm)
            .is_ok_and(|status| status.filesystem_type() == nix::sys::statfs::TMPFS_MAGIC);
        remove_stale(shm);
        remove_stale(&config.base_folder);
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let folder = match is_roomy && is_tmpfs {
            true => tempfile::Builder::new().prefix(&prefix).tempdir_in(shm),
            false => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
        .or_else(|_| tempfile::Builder::new().prefix(&prefix).tempdir_in(&config.base_folder))?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        let lock = fs::File::open(folder.path())?;
        let lock = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, errno)| errno)?;
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders of this user whose process is gone. The lock decides where process ids mean something else, as
/// between containers that share a folder.
fn remove_stale(base: &Path) {
    let own = nix::unistd::geteuid().as_raw();
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|rest| rest.split('-').next())
            .and_then(|number| number.parse::<u32>().ok());
        let Some(process) = process else { continue };
        let is_ours = entry.metadata().is_ok_and(|metadata| metadata.is_dir() && is_of(&metadata, own));
        if !is_ours || Path::new("/proc").join(process.to_string()).exists() {
            continue;
        }
        if own != 0 {
            // A target may have taken all rights from it. Root needs none, and must not follow a link here.
            let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o755));
        }
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let opened = fs::OpenOptions::new().read(true).custom_flags(flags).open(entry.path());
        if let Ok(folder) = opened
            && let Ok(_lock) = Flock::lock(folder, FlockArg::LockExclusiveNonblock)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Root's folders belong to the user its targets run as.
fn is_of(metadata: &fs::Metadata, user: u32) -> bool {
    metadata.uid() == user || user == 0 && metadata.uid() == crate::sandbox::UNPRIVILEGED.0
}
