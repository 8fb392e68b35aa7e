//! Where a program was when it failed, told by the program's own process.
//!
//! A run whose channel has a stack region notes, when a fatal signal arrives, its registers, its memory mappings and the
//! memory its stack lies in, and then dies of the signal as it would have. At the end of its time the host sends
//! [`SAMPLE_SIGNAL`], again and again, and each one is noted likewise: a hang is where it stays.
//!
//! ```text
//!   page 0   StackHead
//!   maps     the text of /proc/self/maps, cut at MAPS_SIZE
//!   stacks   for each sample STACK_SIZE bytes, upwards from the page the stack pointer is on
//! ```
//! Nothing is unwound here: that would run the program's own tables and allocator in a process that is known to be broken.
//! The host unwinds a copy.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// How often a run is looked at: often enough to tell where it is most of the time.
pub const N_SAMPLES: usize = 16;

/// Bytes for the text of the mappings.
pub const MAPS_SIZE: usize = 64 << 10;

/// Bytes kept of the stack, for each sample.
pub const STACK_SIZE: usize = 256 << 10;

/// How large the whole region is.
pub const STACK_REGION_SIZE: usize = crate::channel::PAGE + MAPS_SIZE + N_SAMPLES * STACK_SIZE;

/// Asks the process where it is. A real-time signal that programs hardly use, and whose default is to end the process.
pub const SAMPLE_SIGNAL: i32 = 63;

/// How many registers are kept: those of x86-64 in the order of its unwind tables, the instruction pointer last.
pub const N_REGISTERS: usize = 17;

/// The stack pointer among them.
pub const STACK_POINTER: usize = 7;

/// The instruction pointer among them.
pub const INSTRUCTION_POINTER: usize = 16;

/// The first page of the region. All of it is written by the target.
#[repr(C)]
pub struct StackHead {
    /// Samples that were begun, more than [`N_SAMPLES`] if some found no room.
    pub n_begun: AtomicU32,
    /// Bytes of the mappings' text, 0 as long as it is not there.
    pub maps_length: AtomicU32,
    /// The samples.
    pub samples: [Sample; N_SAMPLES],
}

const _: () = assert!(size_of::<StackHead>() <= crate::channel::PAGE);

/// Where the process was at one moment.
#[repr(C)]
pub struct Sample {
    /// 1 when everything else is written.
    pub is_complete: AtomicU32,
    /// The signal that arrived.
    pub signal: AtomicU32,
    /// Why, in the kernel's words (`si_code`).
    pub code: AtomicU32,
    /// Keeps what follows aligned.
    pub reserved: AtomicU32,
    /// The address at fault, for signals that have one.
    pub fault: AtomicU64,
    /// See [`N_REGISTERS`].
    pub registers: [AtomicU64; N_REGISTERS],
    /// The address of the first byte kept of the stack.
    pub stack_start: AtomicU64,
    /// Bytes kept of it.
    pub stack_length: AtomicU64,
}

/// Where the mappings' text lies in the region.
pub const MAPS_OFFSET: usize = crate::channel::PAGE;

/// Where the stack of a sample lies in the region.
pub const fn stack_offset(sample: usize) -> usize {
    MAPS_OFFSET + MAPS_SIZE + sample * STACK_SIZE
}
