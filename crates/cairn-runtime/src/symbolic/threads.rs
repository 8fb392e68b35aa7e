//! Whether the program has more than one thread.

use core::{
    arch::{asm, global_asm},
    sync::atomic::{AtomicU8, Ordering},
};

// The C library's own note, which it changes before the first thread starts, whoever asked for it. A program without a C
// library has none.
global_asm!(".weak __libc_single_threaded");

/// Whether the program has ever had a second thread. Labels on their way between functions may then be another thread's.
pub fn have_started() -> bool {
    let note: *const AtomicU8;
    // SAFETY: reads an entry that the linker fills, with zero if there is no such thing.
    unsafe {
        asm!(
            "mov {}, qword ptr [rip + __libc_single_threaded@GOTPCREL]",
            out(reg) note,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    // SAFETY: the C library has it from the start, and only ever writes this byte.
    unsafe { note.as_ref() }.is_some_and(|note| note.load(Ordering::Relaxed) == 0)
}
