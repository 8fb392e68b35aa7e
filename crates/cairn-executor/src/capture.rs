//! Standard streams as memory files: seekable, never blocking, read back after the run.

use cairn_model::{input::Bytes, outcome::Captured};
use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::fd::AsRawFd,
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
    OpenOptions::new().read(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// What `file` holds, cut at `limit`.
pub(crate) fn read(file: &mut File, limit: u64) -> io::Result<Captured> {
    let total = file.metadata()?.len();
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::with_capacity(total.min(limit) as usize);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Captured { bytes: Bytes(bytes), total })
}
