//! The program's own idea of what is the same: `int cairn_compare(const void *, size_t, const void *, size_t)`.
//!
//! The host asks for it in a process that does nothing else, so that a comparison that crashes harms nobody.

use crate::{
    channel::{self, Channel},
    system,
};
use cairn_abi::{
    channel::{COMPARED, Refusal, Stage, Task},
    delivery::Value,
};
use core::{
    arch::asm,
    ffi::{c_int, c_void},
    sync::atomic::Ordering,
};

/// What a program may define: 0 if both are the same.
type Compare = unsafe extern "C" fn(*const c_void, usize, *const c_void, usize) -> c_int;

/// Compares and ends the process, if that is what the host wants of it.
pub fn if_asked() {
    let Some(channel) = channel::find() else { return };
    if channel.header().task == Task::Compare as u32 {
        serve(channel);
    }
}

fn serve(channel: Channel) -> ! {
    let Some(compare) = compare() else { channel.refuse(Refusal::Compare) };
    channel::reached(Stage::MainEntered);
    let [original, mutant] = COMPARED.map(|name| match channel.delivery().variable(name.as_bytes(), 1) {
        Some(Value::Bytes(bytes)) => bytes,
        _ => &[],
    });
    // SAFETY: this is what the function promises to take.
    let returned =
        unsafe { compare(original.as_ptr().cast(), original.len(), mutant.as_ptr().cast(), mutant.len()) };
    channel.header().harness_return.store(returned, Ordering::Relaxed);
    channel::reached(Stage::HarnessReturned);
    system::exit(0)
}

/// The program's function, if it has one.
fn compare() -> Option<Compare> {
    let place: usize;
    // SAFETY: reads the linker's table of addresses, where a weak symbol nobody defines is null.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!(
            ".weak cairn_compare",
            "mov {place}, qword ptr [rip + cairn_compare@GOTPCREL]",
            place = out(reg) place,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!(
            ".weak cairn_compare",
            "adrp {place}, :got:cairn_compare",
            "ldr {place}, [{place}, :got_lo12:cairn_compare]",
            place = out(reg) place,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    let place = core::ptr::with_exposed_provenance::<()>(place);
    // SAFETY: a function of that name has that type, as `cairn.h` says; null is no function.
    unsafe { core::mem::transmute::<*const (), Option<Compare>>(place) }
}
