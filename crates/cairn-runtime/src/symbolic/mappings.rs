//! Memory that shares a place in the shadow.
//!
//! Two addresses whose lowest bits agree have the same shadow, and so could pass for each other. Where nothing is mapped on
//! purpose they never meet: programs and their heaps lie low, and the kernel hands out places from the top of the address space.

use super::{cut, nodes::is_on};
use crate::{session::maps::mappings, system};
use cairn_abi::symbolic::{Cut, SHADOW_BASE, SHADOW_MASK, SHADOW_SIZE};
use core::sync::atomic::{AtomicBool, Ordering};

/// Room for the text of `/proc/self/maps`.
const ROOM: usize = 1 << 20;

/// Where the kernel hands out places: the uppermost part that has a shadow of its own, and in it the upper half.
const TOP: usize = 0x7fff_ffff_ffff & !(SHADOW_MASK as usize);
const HALF: usize = SHADOW_MASK as usize / 2 + 1;

/// Whether something lies where a place of the kernel's choice could meet it.
static IS_UNUSUAL: AtomicBool = AtomicBool::new(false);

/// Ends the trace if two writable mappings share a place in the shadow.
pub fn check() {
    if !is_on() {
        return;
    }
    let Some(room) = system::map_private(ROOM) else { return };
    // SAFETY: just mapped, and nobody else knows it.
    let text = unsafe { core::slice::from_raw_parts_mut(room, ROOM) };
    if let Some(text) = read(text) {
        let (shares, is_unusual) = judge(text);
        IS_UNUSUAL.store(is_unusual, Ordering::Relaxed);
        if shares {
            cut(Cut::Aliasing);
        }
    }
    // SAFETY: mapped above, and used no more.
    unsafe { system::unmap(room, ROOM) };
}

/// The text of `/proc/self/maps`.
fn read(room: &mut [u8]) -> Option<&[u8]> {
    // SAFETY: the path is a string.
    let descriptor = unsafe { system::open_for_reading(c"/proc/self/maps".as_ptr()) }?;
    let mut filled = 0;
    while let Some(rest) = room.get_mut(filled..)
        && let Some(more @ 1..) = system::read(descriptor, rest)
    {
        filled += more;
    }
    system::close(descriptor);
    room.get(..filled)
}

/// Memory was mapped at a place, or became writable there. Offered to functions of ours that replace the C library's.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_mapped(place: usize, length: u64) {
    if IS_UNUSUAL.load(Ordering::Relaxed) || !is_top(place, place.saturating_add(length as usize)) {
        check();
    }
}

/// Whether all of it is where the kernel hands out places.
fn is_top(start: usize, end: usize) -> bool {
    start >= TOP + HALF && end <= TOP + 2 * HALF
}

/// Whether writable mappings share a place, and whether others than the kernel's choice lie in the upper half.
fn judge(text: &[u8]) -> (bool, bool) {
    let shadow = SHADOW_BASE as usize..(SHADOW_BASE + SHADOW_SIZE) as usize;
    let writable =
        || mappings(text).filter(|mapping| mapping.is_writable && !shadow.contains(&mapping.start));
    let mut is_unusual = false;
    for (index, one) in writable().enumerate() {
        let low = one.start & SHADOW_MASK as usize;
        is_unusual |= !is_top(one.start, one.end) && low + (one.end - one.start) > HALF;
        let shares = writable().skip(index + 1).any(|other| {
            let apart = |from: usize, to: usize| to.wrapping_sub(from) & SHADOW_MASK as usize;
            apart(one.start, other.start) < one.end - one.start
                || apart(other.start, one.start) < other.end - other.start
        });
        if shares {
            return (true, true);
        }
    }
    (false, is_unusual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_program_shares_nothing() {
        let text = b"555555554000-555555558000 rw-p 0 0 0\n5555555a0000-5555555c1000 rw-p 0 0 0 [heap]\n\
            100000000000-200000000000 rw-p 0 0 0\n7ffff7c00000-7ffff7e00000 rw-p 0 0 0\n\
            7ffffffde000-7ffffffff000 rw-p 0 0 0 [stack]\n";
        assert_eq!(judge(text), (false, false));
        assert!(is_top(0x7fff_f7c0_0000, 0x7fff_f7e0_0000));
    }

    #[test]
    fn what_lies_a_shadow_apart_shares_one() {
        let text = b"7ffff7c00000-7ffff7e00000 rw-p 0 0 0\n03fff7d00000-03fff7d01000 rw-p 0 0 0\n";
        assert_eq!(judge(text), (true, true));
        // Nobody writes there.
        let text = b"7ffff7c00000-7ffff7e00000 rw-p 0 0 0\n03fff7d00000-03fff7d01000 r--p 0 0 0\n";
        assert_eq!(judge(text), (false, false));
        let text = b"7ffff7c00000-7ffff7e00000 rw-p 0 0 0\n03fff7000000-03fff7001000 rw-p 0 0 0\n";
        assert_eq!(judge(text), (false, true));
    }
}
