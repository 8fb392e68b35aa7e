//! Open files: closed, or put back into place.

use crate::{session::Part, system};
use cairn_abi::{
    channel::CHANNEL_FD,
    session::descriptors::{END, SCRATCH, STATM, STDERR, STDIN, STDOUT, WATCH},
};
use core::ffi::CStr;

/// Bytes in the files behind standard input, standard output and standard error.
#[derive(Clone, Copy, Default)]
pub struct StreamSizes {
    pub stdin: u64,
    pub stdout: u64,
    pub stderr: u64,
}

/// Closes what a run opened and puts the standard streams back; returns to the scratch folder if the run `has_moved`, and
/// sets the mask for the permissions of new files, if one is given.
pub fn restore(has_moved: bool, file_mask: Option<usize>) -> StreamSizes {
    let call = |number, arguments| {
        // SAFETY: descriptors other than ours belong to the run that is over; no memory is touched.
        unsafe { system::call(number, arguments) }
    };
    call(libc::SYS_close_range, [3, CHANNEL_FD as usize - 1, 0, 0, 0, 0]);
    call(libc::SYS_close_range, [END as usize, u32::MAX as usize, 0, 0, 0, 0]);
    let [stdin, stdout, stderr] = [(STDIN, 0), (STDOUT, 1), (STDERR, 2)].map(|(kept, place)| {
        call(libc::SYS_dup2, [kept as usize, place, 0, 0, 0, 0]);
        // Going to the end tells the size, and is all there is to do where that is the start.
        let size = call(libc::SYS_lseek, [place, 0, libc::SEEK_END as usize, 0, 0, 0]);
        if size != 0 {
            call(libc::SYS_lseek, [place, 0, libc::SEEK_SET as usize, 0, 0, 0]);
        }
        u64::try_from(size).unwrap_or(0)
    });
    if has_moved {
        call(libc::SYS_fchdir, [SCRATCH as usize, 0, 0, 0, 0, 0]);
    }
    if let Some(mask) = file_mask {
        call(libc::SYS_umask, [mask, 0, 0, 0, 0, 0]);
    }
    StreamSizes { stdin, stdout, stderr }
}

/// Opens `/proc/self/statm` in its place, and takes the places nobody uses: a run that opens many files must not get
/// them.
pub fn open_statm() -> Option<()> {
    place(c"/proc/self/statm", STATM)?;
    for descriptor in CHANNEL_FD..END {
        // SAFETY: a question, and a copy of our own descriptor where there was none.
        unsafe {
            let asked = [descriptor as usize, libc::F_GETFD as usize, 0, 0, 0, 0];
            let is_open = system::call(libc::SYS_fcntl, asked) >= 0;
            if !is_open && descriptor != WATCH {
                let copied = [STATM as usize, descriptor as usize, libc::O_CLOEXEC as usize, 0, 0, 0];
                system::call(libc::SYS_dup3, copied);
            }
        }
    }
    Some(())
}

/// The mask for the permissions of new files.
pub fn file_mask() -> usize {
    // SAFETY: touches no memory; set back at once.
    unsafe {
        let mask = system::call(libc::SYS_umask, [0; 6]) as usize;
        system::call(libc::SYS_umask, [mask, 0, 0, 0, 0, 0]);
        mask
    }
}

/// Opens a file for reading at a given descriptor.
pub fn place(path: &CStr, descriptor: i32) -> Option<()> {
    // SAFETY: the path is a string.
    let opened = unsafe { system::open_for_reading(path.as_ptr()) }?;
    let flags = libc::O_CLOEXEC as usize;
    // SAFETY: the place is ours.
    let moved =
        unsafe { system::call(libc::SYS_dup3, [opened as usize, descriptor as usize, flags, 0, 0, 0]) };
    system::close(opened);
    (moved >= 0).then_some(())
}

/// Reads a file from its start, once.
pub fn read_at_start(descriptor: i32, bytes: &mut [u8]) -> Option<usize> {
    let arguments = [descriptor as usize, bytes.as_mut_ptr().expose_provenance(), bytes.len(), 0, 0, 0];
    // SAFETY: the kernel writes at most as many bytes as there are.
    usize::try_from(unsafe { system::call(libc::SYS_pread64, arguments) }).ok()
}

/// Reads a whole file into `room`; `None` when it does not fit.
pub fn read_file(path: &CStr, room: Part) -> Option<usize> {
    // SAFETY: the path is a string.
    let descriptor = unsafe { system::open_for_reading(path.as_ptr()) }?;
    // SAFETY: the room is the caller's.
    let bytes = unsafe { core::slice::from_raw_parts_mut(room.start, room.size) };
    let mut filled = 0;
    let result = loop {
        let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) else { break None };
        match system::read(descriptor, rest) {
            None => break None,
            Some(0) => break Some(filled),
            Some(more) => filled += more,
        }
    };
    system::close(descriptor);
    result
}
