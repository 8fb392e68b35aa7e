//! What a run finds in `/proc/self/maps`.
//!
//! Some programs read it whenever they start, to find their stack. In a session they would see the runner's mappings, and the
//! kernel takes longer to write them than everything else a small run does. So views open files through `cairn_open`
//! (open.c), and a run that opens this one gets the text as the template read it, which is that of a fresh process.

use super::{snapshot::descriptors, vault};
use crate::system;
use cairn_abi::session::{
    RunnerMode,
    descriptors::{OWN_MAPS, SCRATCH},
};
use core::ffi::{CStr, c_char, c_int};

/// Room for the text.
const SIZE: usize = 256 << 10;

/// Keeps the text of the template. Where that fails runs see the runner's, and the host is told that they looked.
pub fn keep() -> Option<()> {
    let room = super::Part { start: system::map_private(SIZE)?, size: SIZE };
    let length = descriptors::read_file(c"/proc/self/maps", room);
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
    let dot = c".".as_ptr().expose_provenance();
    // SAFETY: the kernel reads the path and the text; descriptors are made and moved to their place.
    unsafe {
        let kept = length.and_then(|length| {
            let file = system::call(libc::SYS_openat, [SCRATCH as usize, dot, flags as usize, 0o600, 0, 0]);
            let file = usize::try_from(file).ok()?;
            let written =
                system::call(libc::SYS_pwrite64, [file, room.start.expose_provenance(), length, 0, 0, 0]);
            let arguments = [file, OWN_MAPS as usize, libc::O_CLOEXEC as usize, 0, 0, 0];
            let placed = system::call(libc::SYS_dup3, arguments);
            system::close(file as i32);
            (written == length as isize && placed >= 0).then_some(())
        });
        system::unmap(room.start, room.size);
        kept
    }
}

/// A descriptor on the kept text, if `path` is that of the own mappings and this is a run in a session; else -1.
///
/// # Safety
/// `path` is a string, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_own_maps(path: *const c_char) -> c_int {
    let Some(vault) = vault::vault() else { return -1 };
    // SAFETY: the caller vouches for the string.
    let is_meant = !path.is_null() && unsafe { CStr::from_ptr(path) } == c"/proc/self/maps";
    if !is_meant || vault.mode != RunnerMode::Snapshot {
        return -1;
    }
    // SAFETY: makes a descriptor that is closed after the run, as the program's own are.
    unsafe {
        system::call(libc::SYS_lseek, [OWN_MAPS as usize, 0, libc::SEEK_SET as usize, 0, 0, 0]);
        system::call(libc::SYS_dup, [OWN_MAPS as usize, 0, 0, 0, 0, 0]).max(-1) as c_int
    }
}
