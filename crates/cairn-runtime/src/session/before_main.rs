//! What a program may have done before `main` that a runner could not restore.

use crate::{
    symbolic::renewal,
    system::{self, status_of},
};
use cairn_abi::{
    channel::CHANNEL_FD,
    session::{Obstacle, descriptors::SCRATCH},
};

/// Links of a folder that holds one other.
const LINKS_OF_ONE_THREAD: u64 = 3;

/// Looks at the template. Where `/proc` is hidden, threads go unseen, as they do for the snapshot, which then fails.
pub fn obstacle() -> Obstacle {
    let tasks = status_of(libc::AT_FDCWD, c"/proc/self/task");
    if tasks.is_some_and(|tasks| tasks.st_nlink > LINKS_OF_ONE_THREAD) {
        return Obstacle::Threads;
    }
    let is_open = |descriptor: i32| {
        let arguments = [descriptor as usize, libc::F_GETFD as usize, 0, 0, 0, 0];
        // SAFETY: a question that touches no memory.
        unsafe { system::call(libc::SYS_fcntl, arguments) >= 0 }
    };
    let place = |status: libc::stat| (status.st_dev, status.st_ino);
    let here = status_of(libc::AT_FDCWD, c".").map(place);
    let scratch = status_of(SCRATCH, c".").map(place);
    if (3..CHANNEL_FD).any(is_open) || here != scratch || renewal::is_too_late() {
        return Obstacle::BeforeMain;
    }
    Obstacle::None
}
