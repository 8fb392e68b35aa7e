//! The words of a command line, as functions of the C library look at them: see `options.c`.
//!
//! What these functions decide shows in what they return, so that it counts as the program's own decision.

use super::{build::binary, memory::cairn_symbolic_load, nodes::is_on, path::cairn_symbolic_condition};
use cairn_abi::symbolic::{Op, switch::NO_CONDITION};

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
