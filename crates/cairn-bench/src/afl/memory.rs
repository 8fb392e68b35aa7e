//! System V shared memory, which AFL's programs attach by number.

use anyhow::{Result, bail};
use std::io;

/// A segment, gone when dropped.
pub struct Segment {
    id: i32,
    base: *mut u8,
    length: usize,
}

impl Segment {
    /// A zeroed segment.
    pub fn new(length: usize) -> Result<Self> {
        // SAFETY: only asks the kernel for a segment.
        let id = unsafe { libc::shmget(libc::IPC_PRIVATE, length, libc::IPC_CREAT | libc::IPC_EXCL | 0o600) };
        if id < 0 {
            bail!("no shared memory of {length} bytes: {}", io::Error::last_os_error());
        }
        // SAFETY: the segment is ours, and the kernel chooses where it goes.
        let base = unsafe { libc::shmat(id, std::ptr::null(), 0) };
        if base as isize == -1 {
            let error = io::Error::last_os_error();
            // SAFETY: nobody has attached it.
            unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
            bail!("shared memory cannot be attached: {error}");
        }
        Ok(Self { id, base: base.cast(), length })
    }

    /// The number by which others attach it.
    pub fn id(&self) -> String {
        self.id.to_string()
    }

    /// Its bytes. The target writes here too, but only between a request and its answer.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `base` is attached for `length` bytes as long as `self` lives, and no other reference to it is
        // handed out while this one is held.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.length) }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: attached in `new` and used by nobody else in this process; removal waits for others to detach.
        unsafe {
            libc::shmdt(self.base.cast());
            libc::shmctl(self.id, libc::IPC_RMID, std::ptr::null_mut());
        }
    }
}
