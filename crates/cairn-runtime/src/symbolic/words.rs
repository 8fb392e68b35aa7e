//! Words and patterns, as functions of the C library look at them: see `options.c` and `patterns.c`.
//!
//! What these functions decide shows in what they return, so that it counts as the program's own decision; but for the letters
//! of patterns, which may be others as long as they stay letters.

use super::{
    build::binary, memory::cairn_symbolic_load, nodes::is_on, path::cairn_symbolic_condition, sources,
};
use cairn_abi::symbolic::{
    Op,
    switch::{GIVEN, LIBRARY, NO_CONDITION},
};
use core::ffi::c_int;

/// A comparison of a byte with a constant: its label, and whether it holds.
unsafe fn compare(op: Op, place: *const u8, constant: u8) -> (u32, bool) {
    // SAFETY: promised by the caller.
    let byte = unsafe { *place };
    let holds = (byte == constant) == matches!(op, Op::Eq);
    let label = match cairn_symbolic_load(place, 1, byte.into()) {
        0 => 0,
        label => binary(op, 8, [label, 0], [byte.into(), constant.into()], holds.into()),
    };
    (label, holds)
}

/// Whether a word is an option stays as it is.
///
/// # Safety
/// It is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_word(word: *const u8) {
    if !is_on() {
        return;
    }
    // SAFETY: promised by the caller: behind a byte that is not zero there is another.
    unsafe {
        let (has_dash, is_dash) = compare(Op::Eq, word, b'-');
        if *word == 0 {
            return cairn_symbolic_condition(NO_CONDITION, has_dash, is_dash.into());
        }
        let (goes_on, is_more) = compare(Op::Ne, word.add(1), 0);
        if has_dash | goes_on == 0 {
            return;
        }
        let is_option = is_dash && is_more;
        let both =
            binary(Op::And, 1, [has_dash, goes_on], [is_dash.into(), is_more.into()], is_option.into());
        cairn_symbolic_condition(NO_CONDITION, both, is_option.into());
    }
}

/// There stay as many words as there are.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_keep_count(label: u32, count: c_int) {
    if label == 0 || !is_on() {
        return;
    }
    cairn_symbolic_condition(GIVEN, binary(Op::Eq, 32, [label, 0], [count as u64; 2], 1), 1);
}

/// Bytes stay as they are.
///
/// # Safety
/// They are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_keep(bytes: *const u8, n: usize) {
    for at in 0..n {
        // SAFETY: promised by the caller.
        unsafe {
            let place = bytes.add(at);
            let (label, _) = compare(Op::Eq, place, *place);
            cairn_symbolic_condition(NO_CONDITION, label, 1);
        }
    }
}

/// A byte stays different from zero, if it is.
///
/// # Safety
/// It is readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_keep_some(byte: *const u8) {
    // SAFETY: promised by the caller.
    unsafe {
        let (label, holds) = compare(Op::Ne, byte, 0);
        cairn_symbolic_condition(NO_CONDITION, label, holds.into());
    }
}

/// A pattern was compiled: letters stay letters, and everything else stays as it is.
///
/// # Safety
/// Its bytes are readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_pattern(pattern: *const u8, length: usize) {
    if !is_on() {
        return;
    }
    let mut is_special = false;
    let mut in_brackets = false;
    for at in 0..length {
        // SAFETY: promised by the caller.
        unsafe {
            let place = pattern.add(at);
            let byte = *place;
            let is_letter = byte.is_ascii_alphabetic() && !is_special && !in_brackets;
            // Where brackets end is not easily told; what follows is taken for a part of them.
            in_brackets |= byte == b'[';
            is_special = byte == b'\\' && !is_special;
            let label = cairn_symbolic_load(place, 1, byte.into());
            if label == 0 {
                continue;
            }
            if is_letter {
                stays_letter(label, byte);
            } else {
                sources::cairn_symbolic_pin(label, byte.into());
            }
        }
    }
}

/// A letter stays one of the same case, because some functions ask for that.
fn stays_letter(label: u32, letter: u8) {
    let first = if letter.is_ascii_lowercase() { b'a' } else { b'A' };
    let place = letter - first;
    let distance = binary(Op::Sub, 8, [label, 0], [letter.into(), first.into()], place.into());
    let is_letter = binary(Op::ULt, 8, [distance, 0], [place.into(), 26], 1);
    cairn_symbolic_condition(LIBRARY, is_letter, 1);
}
