//! Labels of variable arguments, as x86-64 passes them.

use super::{cairn_symbolic_state, memory};
use cairn_abi::symbolic::state::{MAX_ARGUMENTS, Passed, VariableArguments};

/// Registers for integers, and for floating-point numbers.
const REGISTERS: [u32; 2] = [6, 8];

/// Keeps the labels of the variable arguments of the function that was just called, from number `first` on.
///
/// # Safety
/// There is room at `kept`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_save_variable(kept: *mut VariableArguments, first: u32) {
    // SAFETY: promised by the caller; a symbolic view has one thread.
    unsafe {
        let state = &raw const cairn_symbolic_state;
        let end = ((*state).n_arguments as usize).min(MAX_ARGUMENTS);
        let first = first as usize;
        let count = end.saturating_sub(first);
        (*kept).count = count as u32;
        for index in 0..count {
            (*kept).labels[index] = (*state).arguments[first + index];
            (*kept).passed[index] = (*state).passed[first + index];
        }
    }
}

/// A list of variable arguments as the compiler lays it out.
#[repr(C)]
struct List {
    integer_offset: u32,
    float_offset: u32,
    in_memory: *mut u8,
    in_registers: *mut u8,
}

/// Labels what a new list of variable arguments leads to.
///
/// # Safety
/// The list was just begun in the function that `kept` belongs to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_start_variable(
    list: *mut u8,
    kept: *const VariableArguments,
    integers: u32,
    floats: u32,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let list = list.cast::<List>();
        // Where labels of an earlier call lie.
        memory::cairn_symbolic_set((*list).in_registers, 0, 176);
        let mut used = [integers, floats];
        let mut in_memory = 0;
        for index in 0..((*kept).count as usize).min(MAX_ARGUMENTS) {
            let (label, passed) = ((*kept).labels[index], (*kept).passed[index]);
            let kind = usize::from(passed == Passed::Float as u8);
            let place = if passed == Passed::Memory16 as u8 {
                in_memory += 16;
                (*list).in_memory.add(in_memory - 16)
            } else if used[kind] < REGISTERS[kind] {
                used[kind] += 1;
                let number = used[kind] as usize - 1;
                (*list).in_registers.add(if kind == 0 { number * 8 } else { 48 + number * 16 })
            } else {
                in_memory += 8;
                (*list).in_memory.add(in_memory - 8)
            };
            let width = u64::from(super::nodes::node(label).width);
            memory::cairn_symbolic_store(place, if label == 0 { 8 } else { width.div_ceil(8).min(8) }, label);
        }
    }
}
