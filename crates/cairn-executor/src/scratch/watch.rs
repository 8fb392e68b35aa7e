//! Tells whether anything in the scratch folder changed.
//!
//! An inotify descriptor over the folder and every folder below it. A file opened for writing counts as changed when
//! it is closed, because nothing tells of writes through a mapping. Reading and listing raise nothing.
//!
//! One change goes unseen: setting the access time alone, which the kernel announces as reading.

use nix::{
    errno::Errno,
    sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor},
    unistd::read,
};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The longest event: its head, and a name of 255 bytes with its zero byte.
const LONGEST_EVENT: usize = 16 + 256;

/// The descriptor and what it watches.
#[derive(Debug)]
pub(super) struct Watch {
    inotify: Inotify,
    folders: Vec<WatchDescriptor>,
    /// Whether every folder it was given is watched.
    is_complete: bool,
}

impl Watch {
    /// Watches nothing yet. Fails when the user has too many such descriptors.
    pub(super) fn new() -> nix::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        Ok(Self { inotify, folders: Vec::new(), is_complete: false })
    }

    /// Watches `folders` and nothing else. It is incomplete if one of them is missing or cannot be watched.
    pub(super) fn start(&mut self, folders: impl Iterator<Item = nix::Result<OwnedFd>>) {
        self.stop();
        self.is_complete = true;
        for folder in folders {
            match folder.and_then(|folder| self.add(&folder)) {
                Ok(descriptor) => self.folders.push(descriptor),
                Err(_) => self.is_complete = false,
            }
        }
    }

    /// Watches nothing any more, so that folders which outlive their removal, held open by somebody, raise nothing.
    pub(super) fn stop(&mut self) {
        self.is_complete = false;
        for descriptor in self.folders.drain(..) {
            // The watch of a removed folder went with it.
            let _ = self.inotify.rm_watch(descriptor);
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether anything changed since the last call. Events that were lost because there were too many count.
    pub(super) fn drain(&self) -> nix::Result<bool> {
        let mut events = [0; 2048];
        let mut has_changed = false;
        loop {
            match read(&self.inotify, &mut events) {
                // The next event would have fitted, so there is none.
                Ok(length) if length + LONGEST_EVENT <= events.len() => return Ok(true),
                Ok(_) => has_changed = true,
                Err(Errno::EAGAIN) => return Ok(has_changed),
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    fn add(&self, folder: &OwnedFd) -> nix::Result<WatchDescriptor> {
        // The folder may be mounted where this process has no path to it.
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let mask = AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_DELETE_SELF
            | AddWatchFlags::IN_MOVE
            | AddWatchFlags::IN_MOVE_SELF
            | AddWatchFlags::IN_MODIFY
            | AddWatchFlags::IN_ATTRIB
            | AddWatchFlags::IN_CLOSE_WRITE
            | AddWatchFlags::IN_ONLYDIR;
        self.inotify.add_watch(path.as_str(), mask)
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
