//! What an archive needs beyond the library: a panic handler, and what runs it before the target.

use crate::channel;

/// Nothing here is meant to panic. If something does, the run ends as an abort, never by unwinding into the target.
// Only where the archives are built, so that `--all-features` also works with the test harness's own handler.
#[cfg(panic = "abort")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    crate::system::abort()
}

// `core` was compiled with unwinding and refers to the personality; weak, so that a target with Rust in it keeps its own.
core::arch::global_asm!(
    ".weak rust_eh_personality",
    ".hidden rust_eh_personality",
    ".type rust_eh_personality,@function",
    "rust_eh_personality:",
    // Nothing calls it, because nothing here unwinds.
    ".byte 0",
);

// Before every library, and also where nobody runs the program's constructors because it brings its own `_start`. A view
// is linked with another entry before all others.
#[used]
#[unsafe(link_section = ".preinit_array")]
static EARLY: extern "C" fn() = cairn_start;

// Priority 0: before every constructor of the target, so that none of their hits and requests are missed where
// nobody knows of the array above.
#[used]
#[unsafe(link_section = ".init_array.00000")]
static CONSTRUCTOR: extern "C" fn() = cairn_start;

/// Looks for the channel, once; entered from wherever comes first.
#[unsafe(no_mangle)]
extern "C" fn cairn_start() {
    channel::find();
}

/// Referred to by every view, so that a view and a runtime of different versions do not link.
#[cfg(feature = "view")]
#[unsafe(no_mangle)]
#[used]
static cairn_abi_v5: u32 = cairn_abi::ABI_VERSION;

// What a view's `main` calls. A `_start` written in C calls `main` with a stack the convention does not allow, and the
// view shall not be the one that notices.
#[cfg(all(feature = "view", target_arch = "x86_64"))]
core::arch::global_asm!(
    ".text",
    ".globl cairn_run_main",
    ".type cairn_run_main,@function",
    "cairn_run_main:",
    "push rbp",
    "mov rbp, rsp",
    "and rsp, -16",
    "call {run}",
    "leave",
    "ret",
    ".size cairn_run_main, .-cairn_run_main",
    run = sym crate::program::run_main,
);
