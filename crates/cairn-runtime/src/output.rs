//! What a harness wants compared.

use crate::channel;
use core::{ffi::c_void, ptr, sync::atomic::Ordering};

/// Adds `length` bytes to the harness's output. What does not fit is counted; without a host nothing happens.
///
/// # Safety
/// `bytes` is readable for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_output(bytes: *const c_void, length: usize) {
    let Some(channel) = channel::find() else { return };
    let before = channel.header().output_total.fetch_add(length as u64, Ordering::Relaxed);
    let Some((start, size)) = channel.region(channel.header().output) else { return };
    let Ok(before) = usize::try_from(before) else { return };
    if before < size {
        let fitting = length.min(size - before);
        // SAFETY: `before + fitting` is within the region; the caller vouches for the bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.cast(), start.add(before), fitting) };
    }
}
