//! What an archive needs beyond the library: a panic handler and the constructor.

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

// Priority 0: before every constructor of the target, so that none of their hits and requests are missed.
#[used]
#[unsafe(link_section = ".init_array.00000")]
static CONSTRUCTOR: extern "C" fn() = construct;

extern "C" fn construct() {
    let found = channel::find();
    #[cfg(feature = "view")]
    crate::counters::lay(found);
    #[cfg(not(feature = "view"))]
    let _ = found;
}

/// Referred to by every view, so that a view and a runtime of different versions do not link.
#[cfg(feature = "view")]
#[unsafe(no_mangle)]
#[used]
static cairn_abi_v1: u32 = cairn_abi::ABI_VERSION;

/// Called by a view at the start of `main`.
#[cfg(feature = "view")]
#[unsafe(no_mangle)]
extern "C" fn cairn_main_entered() {
    channel::reached(cairn_abi::channel::Stage::MainEntered);
}
