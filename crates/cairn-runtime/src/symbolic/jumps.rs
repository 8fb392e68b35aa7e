//! Values that `longjmp` brings along.

use super::{
    build::{binary, cairn_symbolic_ite},
    cairn_symbolic_state,
    nodes::is_on,
};
use cairn_abi::symbolic::{Op, state::JUMPED};
use core::ffi::c_int;

/// Control is about to come back behind a `setjmp`, with a value that is never 0 there.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_jumps(label: u32, value: c_int) {
    if label == 0 || !is_on() {
        return;
    }
    let value = u64::from(value.cast_unsigned());
    let is_zero = binary(Op::Eq, 32, [label, 0], [value, 0], (value == 0).into());
    let arrives = cairn_symbolic_ite(32, is_zero, 0, label, (value == 0).into(), 1, value);
    // SAFETY: a symbolic view has one thread.
    unsafe {
        let state = &raw mut cairn_symbolic_state;
        (*state).results[0] = arrives;
        (*state).returned = if arrives == 0 { 0 } else { JUMPED };
    }
}
