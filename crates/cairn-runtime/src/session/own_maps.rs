//! What a run finds in `/proc/self/maps`.
//!
//! Some programs read it whenever they start, to find their stack. In a session they would see the runner's mappings, and the
//! kernel takes longer to write them than everything else a small run does. So views open files through `cairn_open`
//! (open.c), and a run that opens this one gets the text as the template read it, which is that of a fresh process: of what a
//! template has only the channel is larger, and begins earlier.

use super::vault;
use crate::{channel::Channel, system};
use cairn_abi::session::{
    RunnerMode, SessionBoard,
    descriptors::{OWN_MAPS, SCRATCH},
};
use core::{
    ffi::{CStr, c_char, c_int},
    sync::atomic::{AtomicBool, Ordering},
};

/// Keeps the text of the template. Where that fails runs see the runner's, and the host is told that they looked.
pub fn keep(channel: Channel) -> Option<()> {
    let (start, size) = channel.whole();
    let (board, _) = channel.region(channel.header().session)?;
    // SAFETY: a whole page of shared memory, of which only atomics are used.
    let alone = unsafe { &*board.cast::<SessionBoard>() }.channel_alone.load(Ordering::Relaxed) as usize;
    if alone == 0 {
        return None;
    }
    let begins = Address::new(start.addr());
    let would_begin = Address::new((start.addr() + size).checked_sub(alone)?);
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
    let dot = c".".as_ptr().expose_provenance();
    // SAFETY: the kernel reads the path; the descriptor that is made is moved to its place.
    unsafe {
        let file = system::call(libc::SYS_openat, [SCRATCH as usize, dot, flags as usize, 0o600, 0, 0]);
        let file = usize::try_from(file).ok()?;
        let place = copy(c"/proc/self/maps", file, &begins);
        let is_told = place.is_some_and(|place| write(file, would_begin.digits(), place));
        let arguments = [file, OWN_MAPS as usize, libc::O_CLOEXEC as usize, 0, 0, 0];
        let is_placed = is_told && system::call(libc::SYS_dup3, arguments) >= 0;
        system::close(file as i32);
        IS_KEPT.store(is_placed, Ordering::Relaxed);
        is_placed.then_some(())
    }
}

static IS_KEPT: AtomicBool = AtomicBool::new(false);

/// An address as the kernel writes it, in as many digits as all have where mappings are made.
struct Address([u8; N_DIGITS]);

const N_DIGITS: usize = 12;

impl Address {
    fn new(address: usize) -> Self {
        let mut digits = [0; N_DIGITS];
        for (index, digit) in digits.iter_mut().rev().enumerate() {
            let value = (address >> (4 * index) & 15) as u8;
            *digit = if value < 10 { b'0' + value } else { b'a' + value - 10 };
        }
        Self(digits)
    }

    fn digits(&self) -> &[u8] {
        &self.0
    }
}

/// Copies a file, piece by piece: memory for all of it would be a mapping more. Where the line begins that starts with `wanted`.
fn copy(path: &CStr, to: usize, wanted: &Address) -> Option<usize> {
    // SAFETY: the path is a string.
    let from = unsafe { system::open_for_reading(path.as_ptr()) }?;
    let mut piece = [0; 2048];
    let (mut n_copied, mut column, mut n_equal) = (0, 0, 0);
    let mut place = None;
    let is_whole = loop {
        let Some(length) = system::read(from, &mut piece) else { break false };
        if length == 0 {
            break true;
        }
        let bytes = piece.get(..length).unwrap_or(&[]);
        for (index, byte) in bytes.iter().enumerate() {
            n_equal += usize::from(wanted.0.get(column) == Some(byte));
            column += 1;
            if column == N_DIGITS && n_equal == N_DIGITS {
                place = Some(n_copied + index + 1 - N_DIGITS);
            }
            if *byte == b'\n' {
                (column, n_equal) = (0, 0);
            }
        }
        if !write(to, bytes, n_copied) {
            break false;
        }
        n_copied += length;
    };
    system::close(from);
    place.filter(|_| is_whole)
}

fn write(file: usize, bytes: &[u8], place: usize) -> bool {
    let arguments = [file, bytes.as_ptr().expose_provenance(), bytes.len(), place, 0, 0];
    // SAFETY: the kernel reads the bytes.
    unsafe { system::call(libc::SYS_pwrite64, arguments) == bytes.len() as isize }
}

/// A descriptor on the kept text, if `path` is that of the own mappings and this is a run in a session; else -1.
///
/// # Safety
/// `path` is a string, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_own_maps(path: *const c_char) -> c_int {
    let Some(vault) = vault::vault() else { return -1 };
    // What is no string is for the kernel to find out, as in a fresh process.
    if !IS_KEPT.load(Ordering::Relaxed)
        || vault.mode != RunnerMode::Snapshot
        || !vault.snapshot.is_mapped(path.addr())
        // SAFETY: something is there, and the caller vouches for the string.
        || unsafe { CStr::from_ptr(path) } != c"/proc/self/maps"
    {
        return -1;
    }
    // SAFETY: makes a descriptor that is closed after the run, as the program's own are.
    unsafe {
        system::call(libc::SYS_lseek, [OWN_MAPS as usize, 0, libc::SEEK_SET as usize, 0, 0, 0]);
        system::call(libc::SYS_dup, [OWN_MAPS as usize, 0, 0, 0, 0, 0]).max(-1) as c_int
    }
}
