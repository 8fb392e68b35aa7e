//! Standard streams as memory files: seekable, never blocking, read back after the run.

use cairn_model::{input::Bytes, outcome::Captured};
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::{fd::AsRawFd, unix::fs::FileExt},
};

/// An empty memory file that is closed on exec.
pub(crate) fn memory_file(name: &str) -> io::Result<File> {
    let fd = nix::sys::memfd::memfd_create(name, nix::sys::memfd::MFdFlags::MFD_CLOEXEC)?;
    Ok(File::from(fd))
}

/// Standard input: `content`, seekable and read-only as a redirected file is.
pub(crate) fn stdin(content: &[u8]) -> io::Result<File> {
    let mut file = memory_file("stdin")?;
    file.write_all(content)?;
    read_only(&file)
}

/// The same file, opened anew for reading.
pub(crate) fn read_only(file: &File) -> io::Result<File> {
    OpenOptions::new().read(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// What `file` holds, cut at `limit`.
///
/// Read by position: a live target shares the descriptor's own.
pub(crate) fn read(file: &File, limit: u64) -> io::Result<Captured> {
    let total = file.metadata()?.len();
    let mut bytes = vec![0; total.min(limit) as usize];
    let mut n_read = 0;
    while n_read < bytes.len() {
        match file.read_at(&mut bytes[n_read..], n_read as u64) {
            Ok(0) => bytes.truncate(n_read),
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Captured { bytes: Bytes(bytes), total })
}
