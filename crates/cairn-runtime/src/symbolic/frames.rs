//! Which functions are running.
//!
//! A detailed view tells of every function that is entered and of every return. That a function was left by `longjmp` or by an
//! exception shows later: where control comes back to, and how deep that is.

use super::{cut, notes_all, path};
use crate::system;
use cairn_abi::{
    record::{Leaving, Record},
    symbolic::Cut,
};
use core::ptr;

/// More calls within calls than this are not told apart. The memory is used only as far as a run gets.
const MAX_DEPTH: u32 = 1 << 22;

/// Bytes of the list.
const SIZE: usize = MAX_DEPTH as usize * size_of::<u32>();

struct Frames {
    /// The functions that are running, the outermost first.
    functions: *mut u32,
    depth: u32,
}

static mut FRAMES: Frames = Frames { functions: ptr::null_mut(), depth: 0 };

fn frames() -> &'static mut Frames {
    let frames = &raw mut FRAMES;
    // SAFETY: a symbolic view has one thread, and nothing here calls back.
    unsafe { &mut *frames }
}

/// Starts with no function running; false when there is no memory.
pub fn begin() -> bool {
    let Some(functions) = system::map_apart(SIZE) else { return false };
    *frames() = Frames { functions: functions.cast(), depth: 0 };
    true
}

/// Whether the list lies between these addresses. Sessions need not restore it: what lies beyond the depth is never read.
pub fn hold(start: usize, end: usize) -> bool {
    let functions = frames().functions.addr();
    functions != 0 && functions < end && start < functions + SIZE
}

impl Frames {
    fn pop(&mut self, how: Leaving) {
        self.depth -= 1;
        // SAFETY: the depth was at most the capacity.
        let function = unsafe { *self.functions.add(self.depth as usize) };
        path::note(Record::Leave { function, how });
    }
}

/// A function was entered.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_enter(function: u32) {
    let frames = frames();
    if !notes_all() || frames.functions.is_null() {
        return;
    }
    if frames.depth == MAX_DEPTH {
        return cut(Cut::Records);
    }
    // SAFETY: within the memory by the check.
    unsafe { frames.functions.add(frames.depth as usize).write(function) };
    frames.depth += 1;
    path::note(Record::Enter { function });
}

/// A function returns.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_leave(function: u32) {
    let frames = frames();
    if frames.depth == 0 {
        return;
    }
    // SAFETY: there is memory where something runs, and the depth is at most the capacity.
    let running = unsafe { core::slice::from_raw_parts(frames.functions, frames.depth as usize) };
    let Some(own) = running.iter().rposition(|running| *running == function) else { return };
    // Control came back to it through code that is not instrumented.
    while frames.depth as usize > own + 1 {
        frames.pop(Leaving::Longjmp);
    }
    frames.pop(Leaving::Return);
}

/// How many functions are running.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_depth() -> u32 {
    frames().depth
}

/// Control is where so many functions were running; those beyond have been left: `how` is a [`Leaving`] as a number.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_back(depth: u32, how: u32) {
    let frames = frames();
    let how = if how == Leaving::Unwind as u32 { Leaving::Unwind } else { Leaving::Longjmp };
    while frames.depth > depth {
        frames.pop(how);
    }
}
