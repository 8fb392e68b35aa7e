//! Labels of memory.

use super::{
    build::{binary, concat, constant, extend, extract, input},
    head,
    nodes::{is_on, node},
    path, tables, written,
};
use crate::{counters, system};
use cairn_abi::{
    channel::PAGE,
    counters::counter_region_size,
    record::Access,
    symbolic::{
        Node, Op, RegionId, RegionKind, ShadowByte, shadow_address,
        state::{LOOKED_AT, MOST_BYTES},
    },
};
use core::{ptr, sync::atomic::Ordering};

/// The shadow of memory, to be looked at.
pub fn shadow(address: usize) -> *const u32 {
    ptr::with_exposed_provenance(shadow_address(address as u64) as usize)
}

/// The shadow of `length` bytes of memory, to be given labels. Nobody gives labels without it: sessions have to know.
pub fn shadow_to_label(address: usize, length: usize) -> *mut u32 {
    let shadow = shadow(address).cast_mut();
    written::note(shadow.addr(), length * size_of::<u32>());
    shadow
}

/// The label of `size` bytes, at most 8, that held `value`, little-endian. They may hold something else by now.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_load(place: *const u8, size: u64, value: u64) -> u32 {
    if is_on() { load(place, size as usize, value) } else { 0 }
}

fn load(place: *const u8, size: usize, value: u64) -> u32 {
    let shadow = shadow(place.addr());
    let size = size.min(8);
    // SAFETY: every address has a shadow.
    unsafe {
        let first = ShadowByte(*shadow);
        let is_whole = first.0 != 0
            && first.byte() == 0
            && (1..size).all(|index| *shadow.add(index) == ShadowByte::new(first.label(), index as u32).0);
        if is_whole {
            let known = node(first.label());
            if usize::from(known.width) == size * 8 && known.value == value {
                return first.label();
            }
        }
        load_bytes(shadow, value, size)
    }
}

/// The label of bytes that belong to several values, or to none.
unsafe fn load_bytes(shadow: *const u32, value: u64, size: usize) -> u32 {
    // SAFETY: promised by the caller.
    unsafe {
        let mut labels = [0; 8];
        let mut any = 0;
        for (index, label) in labels.iter_mut().enumerate().take(size) {
            *label = byte(shadow.add(index), (value >> (8 * index)) as u8);
            any |= *label;
        }
        if any == 0 {
            return 0;
        }
        let of = |index: usize| match labels[index] {
            0 => constant(8, value >> (8 * index) & 0xff),
            label => label,
        };
        let mut label = of(0);
        for index in 1..size {
            let width = (index as u32 + 1) * 8;
            let known = value & super::build::mask(width);
            label = concat(of(index), label, width, known);
        }
        label
    }
}

/// The label of one byte. One whose value has changed behind our back has none.
unsafe fn byte(shadow: *const u32, value: u8) -> u32 {
    // SAFETY: every address has a shadow.
    unsafe {
        let known = ShadowByte(*shadow);
        if known.0 == 0 {
            return 0;
        }
        let whole = node(known.label());
        let at = known.byte() * 8;
        if (whole.value >> at) as u8 != value || whole.width == 0 {
            *shadow.cast_mut() = 0;
            if let Some(head) = head() {
                head.n_stale.fetch_add(1, Ordering::Relaxed);
            }
            return 0;
        }
        let width = u32::from(whole.width);
        if at + 8 > width {
            // The upper bits of a value that fills no whole byte.
            let rest = width.saturating_sub(at);
            if rest == 0 {
                return 0;
            }
            let part = extract(known.label(), at, rest, value.into());
            return extend(part, 8, value.into());
        }
        extract(known.label(), at, 8, value.into())
    }
}

/// Likewise, at an address that depends on the input.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_load_at(place: *const u8, size: u64, value: u64, pointer: u32) -> u32 {
    if !is_on() {
        return 0;
    }
    if pointer != 0 {
        if is_counter(place.addr()) {
            return 0;
        }
        if let Some(label) = tables::look_up(place.addr(), size, value, pointer) {
            return label;
        }
        note_address(place.addr(), size, pointer, Access::Load);
    }
    load(place, size as usize, value)
}

/// Whether a counter of the view lies there: which one is counted follows from a condition that is noted anyway, and what it
/// holds is nothing that the program could see.
fn is_counter(address: usize) -> bool {
    let view = counters::view();
    address.wrapping_sub(view.counters.addr()) < counter_region_size(view.n_counters as usize)
}

fn note_address(address: usize, size: u64, pointer: u32, access: Access) {
    if let Some(head) = head() {
        head.n_concrete_addresses.fetch_add(1, Ordering::Relaxed);
    }
    path::address(address as u64, size as u32, pointer, access);
}

/// Whether a function that is not followed is given input behind a pointer, which leads to so many bytes: 0 if not.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_marked(place: *const u8, length: u64) -> u64 {
    let n_looked_at = length.min(LOOKED_AT) as usize;
    // SAFETY: every address has a shadow, also one that leads nowhere.
    (0..n_looked_at).any(|index| unsafe { *shadow(place.addr().wrapping_add(index)) } != 0).into()
}

/// What a function that is not followed is given a pointer to, which leads to so many bytes: a label that depends on all labels
/// there, and on `label`. After the first bytes that have labels, it ends with one that has none; bytes without labels may lie
/// before them, as a name before a value, or a length before text.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_pointed(label: u32, place: *const u8, length: u64) -> u32 {
    if !is_on() {
        return 0;
    }
    let mut sum = label;
    let mut has_begun = false;
    for index in 0..length.min(MOST_BYTES) as usize {
        // SAFETY: every address has a shadow, also one that leads nowhere.
        let known = unsafe { ShadowByte(*shadow(place.addr().wrapping_add(index))) };
        if known.0 == 0 {
            if has_begun || index as u64 >= LOOKED_AT {
                break;
            }
            continue;
        }
        has_begun = true;
        let (whole, at) = (node(known.label()), known.byte() * 8);
        if at + 8 > u32::from(whole.width) {
            continue;
        }
        let value = whole.value >> at & 0xff;
        let part = extract(known.label(), at, 8, value);
        // A sum is the same node wherever the same bytes are given again, and depends on each of them.
        sum = match sum {
            0 => part,
            _ => {
                let before = node(sum).value;
                binary(Op::Add, 8, [sum, part], [before, value], before.wrapping_add(value) & 0xff)
            }
        };
    }
    sum
}

/// Memory was copied or filled at an address that depends on the input, if its label is not 0. `access` is an [`Access`] as a
/// number.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_address(place: *const u8, length: u64, pointer: u32, access: u32) {
    if pointer != 0 && is_on() {
        let access = if access == Access::Store as u32 { Access::Store } else { Access::Load };
        note_address(place.addr(), length, pointer, access);
    }
}

/// Gives `size` bytes, at most 8, the label of a value; 0 for none.
///
/// # Safety
/// The program has just written them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_store(place: *mut u8, size: u64, label: u32) {
    let size = (size as usize).min(8);
    // SAFETY: every address has a shadow.
    unsafe {
        if label == 0 || !is_on() {
            return clear(shadow(place.addr()), size);
        }
        let shadow = shadow_to_label(place.addr(), size);
        for index in 0..size {
            *shadow.add(index) = ShadowByte::new(label, index as u32).0;
        }
        let width = u32::from(node(label).width);
        if (width as usize) < size * 8 {
            // A truth value in a byte: the rest is zero.
            let known = node(label);
            let whole = extend(label, size as u32 * 8, known.value);
            for index in 0..size {
                *shadow.add(index) = ShadowByte::new(whole, index as u32).0;
            }
        }
    }
}

/// Likewise, at an address that depends on the input.
///
/// # Safety
/// The program has just written them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_store_at(place: *mut u8, size: u64, label: u32, pointer: u32) {
    let mut label = label;
    if pointer != 0 && is_on() {
        if is_counter(place.addr()) {
            label = 0;
        } else {
            note_address(place.addr(), size, pointer, Access::Store);
        }
    }
    // SAFETY: promised by the caller.
    unsafe { cairn_symbolic_store(place, size, label) }
}

/// Labels go where bytes were copied to.
///
/// # Safety
/// The program has copied the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_copy(to: *mut u8, from: *const u8, length: u64) {
    if to.addr() == from.addr() {
        return;
    }
    let (place, from) = (to.addr(), shadow(from.addr()));
    let length = length as usize;
    // SAFETY: every address has a shadow. Pages that hold no labels are only read, so that they need no memory.
    unsafe {
        if is_clear(from, length) {
            clear(shadow(place), length);
        } else {
            ptr::copy(from, shadow_to_label(place, length), length);
        }
    }
}

/// Bytes were set to one value.
///
/// # Safety
/// The program has set them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_set(to: *mut u8, label: u32, length: u64) {
    // SAFETY: every address has a shadow.
    unsafe {
        if label == 0 || !is_on() {
            return clear(shadow(to.addr()), length as usize);
        }
        let shadow = shadow_to_label(to.addr(), length as usize);
        for index in 0..length as usize {
            *shadow.add(index) = ShadowByte::new(label, 0).0;
        }
    }
}

/// Whole pages were mapped anew: nothing in them has a label. Offered to functions of ours that replace the C library's.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_forget(place: *const u8, length: u64) {
    let length = (length as usize).next_multiple_of(PAGE) * size_of::<u32>();
    let arguments = [shadow(place.addr()).addr(), length, libc::MADV_DONTNEED as usize, 0, 0, 0];
    // SAFETY: the shadow of whole pages is whole pages, and reads as zeros afterwards.
    unsafe { system::call(libc::SYS_madvise, arguments) };
}

/// Whether nothing has a label.
///
/// # Safety
/// The shadow belongs to memory.
pub unsafe fn is_clear(shadow: *const u32, length: usize) -> bool {
    // SAFETY: promised by the caller.
    (0..length).all(|index| unsafe { *shadow.add(index) == 0 })
}

unsafe fn clear(shadow: *const u32, length: usize) {
    for index in 0..length {
        // SAFETY: promised by the caller.
        unsafe {
            let byte = shadow.add(index).cast_mut();
            if *byte != 0 {
                *byte = 0;
            }
        }
    }
}

/// Whether any of these bytes depends on the input. Offered to models.
///
/// # Safety
/// None of the program's memory is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_is_symbolic(place: *const u8, length: usize) -> i32 {
    // SAFETY: every address has a shadow.
    i32::from(is_on() && unsafe { !is_clear(shadow(place.addr()), length) })
}

/// Whether a byte and the one behind it are neighbours in the input. Offered to models.
///
/// # Safety
/// None of the program's memory is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_continues(place: *const u8) -> i32 {
    let shadow = shadow(place.addr());
    // SAFETY: every address has a shadow.
    let [first, second] = unsafe { [ShadowByte(*shadow), ShadowByte(*shadow.add(1))] };
    if first.0 == 0 || second.0 == 0 || !is_on() {
        return 0;
    }
    let [one, other] = [first, second].map(|byte| node(byte.label()));
    let is_input = [one, other].iter().all(|node| node.op == Op::Input as u8);
    let at = |node: Node, byte: ShadowByte| node.b + byte.byte();
    i32::from(is_input && one.a == other.a && at(one, first) + 1 == at(other, second))
}

/// Whether a string that goes up to this byte ends with it or right behind it in all inputs. Offered to models.
///
/// # Safety
/// The byte is readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_ends(place: *const u8) -> i32 {
    let shadow = shadow(place.addr());
    // SAFETY: every address has a shadow. The next byte is on the same page as one that is readable.
    unsafe {
        let known = ShadowByte(*shadow);
        if known.0 == 0 || !is_on() {
            return 1;
        }
        let known = node(known.label());
        let is_word = known.op == Op::Input as u8
            && matches!(RegionId(known.a).kind(), Some(RegionKind::Argument | RegionKind::Environment));
        let next = place.add(1);
        let is_followed = !next.addr().is_multiple_of(PAGE) && *next == 0 && *shadow.add(1) == 0;
        i32::from(is_word || is_followed)
    }
}

/// The region and offset of a byte of an argument or of an entry of the environment.
unsafe fn place_in_word(place: *const u8) -> Option<(RegionId, u32)> {
    // SAFETY: every address has a shadow.
    let known = unsafe { ShadowByte(*shadow(place.addr())) };
    if known.0 == 0 || !is_on() {
        return None;
    }
    let (byte, whole) = (known.byte(), node(known.label()));
    let region = RegionId(whole.a);
    let is_word = whole.op == Op::Input as u8
        && matches!(region.kind(), Some(RegionKind::Argument | RegionKind::Environment));
    is_word.then_some((region, whole.b + byte))
}

/// Whether a string that ends with this byte is an argument, which may be longer in other inputs. Offered to models.
///
/// # Safety
/// None of the program's memory is touched.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_grows(place: *const u8) -> i32 {
    // SAFETY: promised by the caller.
    i32::from(unsafe { place_in_word(place) }.is_some())
}

/// Writes what an argument that ends with the byte at `last` has behind it: zeros in this run, and whatever a longer one has
/// there. Offered to models.
///
/// # Safety
/// There is room for `n` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_beyond(place: *mut u8, n: usize, last: *const u8) {
    // SAFETY: promised by the caller; every address has a shadow.
    unsafe {
        place.write_bytes(0, n);
        cairn_symbolic_set(place, 0, n as u64);
        let Some((region, at)) = place_in_word(last) else { return };
        let shadow = shadow_to_label(place.addr(), n);
        for index in 0..n {
            *shadow.add(index) = ShadowByte::new(input(region, at + 1 + index as u32, 8, 0), 0).0;
        }
    }
}

/// A value without its label. Offered to models.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_concrete(value: usize) -> usize {
    value
}
