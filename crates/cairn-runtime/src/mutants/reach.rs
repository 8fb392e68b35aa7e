//! The file in which programs note what they reach.
//!
//! Many processes of a test suite share it, some at the same time: whoever comes first lays it out, and all map it.
//! Bytes are only ever set, so nobody needs to wait for anybody.

use super::{alone::fail, names};
use crate::{counters, system};
use cairn_abi::mutants::{
    MutantName, MutantViewInfo, REACH_MAGIC, REACH_START, ReachHead, infections_size, name_mark,
};

/// The longest path the kernel takes, with the zero at its end.
const LONGEST_PATH: usize = 4096;

/// Lays the infection pages of the file at `path` over the view's.
pub fn note_in(info: &MutantViewInfo, path: &[u8]) {
    if path.first() != Some(&b'/') {
        fail(&[
            b"CAIRN_REACH: `",
            path,
            b"` is no absolute path\n\nhint: tests change folders: write `$PWD/",
            path,
            b"`\n",
        ]);
    }
    let mut place = [0; LONGEST_PATH];
    match place.get_mut(..path.len()) {
        Some(room) if path.len() < LONGEST_PATH => room.copy_from_slice(path),
        _ => fail(&[b"CAIRN_REACH: the path is too long\n"]),
    }
    let flags = (libc::O_RDWR | libc::O_CREAT | libc::O_CLOEXEC | libc::O_NOCTTY) as usize;
    // SAFETY: the path ends in a zero byte.
    let opened = unsafe {
        let path = place.as_ptr().expose_provenance();
        system::call(libc::SYS_openat, [libc::AT_FDCWD as usize, path, flags, 0o666, 0, 0])
    };
    let Ok(file) = i32::try_from(opened).and_then(usize::try_from) else {
        fail(&[b"CAIRN_REACH: cannot open `", path, b"`\n"])
    };
    match join(file, info) {
        Joined::Yes => {}
        Joined::Foreign => fail(&[
            b"CAIRN_REACH: `",
            path,
            b"` belongs to another program, another build or another set of mutants\n\nhint: remove it, or name another file\n",
        ]),
        Joined::Failed => fail(&[b"CAIRN_REACH: cannot use `", path, b"`\n"]),
    }
    system::close(file as i32);
}

enum Joined {
    Yes,
    /// The file was laid out by another view, or is something else.
    Foreign,
    Failed,
}

fn join(file: usize, info: &MutantViewInfo) -> Joined {
    let size = infections_size(info.n_patches as usize, info.n_selectors as usize);
    let expected = head(info);
    let place = (&raw const expected).expose_provenance();
    // SAFETY: the kernel reads and writes heads, for which there is room.
    unsafe {
        // Closing the file, which happens soon, gives the lock back.
        if system::call(libc::SYS_flock, [file, libc::LOCK_EX as usize, 0, 0, 0, 0]) != 0 {
            return Joined::Failed;
        }
        let Some(found_size) = system::regular_file_size(file as i32) else { return Joined::Foreign };
        let head_size = size_of::<ReachHead>();
        if found_size == 0
            && system::call(libc::SYS_pwrite64, [file, place, head_size, 0, 0, 0]) != head_size as isize
        {
            return Joined::Failed;
        }
        let mut found = ReachHead { magic: 0, ..expected };
        let found_place = (&raw mut found).expose_provenance();
        let read = system::call(libc::SYS_pread64, [file, found_place, head_size, 0, 0, 0]);
        if read != head_size as isize || found != expected {
            return Joined::Foreign;
        }
        let whole = REACH_START + size;
        // Also where somebody was killed before they came this far.
        if found_size < whole as u64 && system::call(libc::SYS_ftruncate, [file, whole, 0, 0, 0, 0]) != 0 {
            return Joined::Failed;
        }
        match system::map_shared_over(info.infections, file as i32, REACH_START as u64, size) {
            true => Joined::Yes,
            false => Joined::Failed,
        }
    }
}

fn head(info: &MutantViewInfo) -> ReachHead {
    ReachHead {
        magic: REACH_MAGIC,
        view: counters::mark(counters::view()),
        n_patches: info.n_patches,
        n_selectors: info.n_selectors,
        mutants: marks(info),
    }
}

fn marks(info: &MutantViewInfo) -> u64 {
    let mark = |name: &MutantName| name_mark(u64::from(name.high) << 32 | u64::from(name.low), name.selector);
    names(info).iter().map(mark).fold(0, u64::wrapping_add)
}
