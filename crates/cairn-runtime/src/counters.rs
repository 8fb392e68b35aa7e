//! The view's counters, laid over the channel's.

use crate::{channel::Channel, system};
use cairn_abi::{
    channel::{CHANNEL_FD, PAGE, Refusal},
    counters::{CounterHead, counter_region_size},
    view::{VIEW_MAGIC, ViewInfo},
};

unsafe extern "C" {
    /// Defined by the view.
    static __cairn_view: ViewInfo;
}

/// The view this runtime is linked into.
pub fn view() -> &'static ViewInfo {
    // SAFETY: the view was linked together with this archive and defines its info.
    unsafe { &__cairn_view }
}

/// Makes the view count into `channel`, and run the mutant it names. Without one it counts into its own pages, unseen.
///
/// The counters keep their addresses, so instrumented code costs the same with and without a host, and the host
/// needs nothing from a dying target.
pub fn lay(channel: Option<Channel>) {
    #[cfg(target_arch = "x86_64")]
    crate::symbolic::lay(channel);
    let Some(channel) = channel else {
        return crate::mutants::start_alone();
    };
    let view = view();
    let Some((shared, size)) = channel.region(channel.header().counters) else {
        // The host asks for no counters, for instance when it only delivers.
        return;
    };
    let mark = mark(view);
    // SAFETY: the region lies within the channel, starts on a page and is at least a page long.
    let head = unsafe { &mut *shared.cast::<CounterHead>() };
    let is_foreign = head.view != 0 && head.view != mark;
    if is_foreign {
        // Another view runs first and has `exec`ed this one: its counters mean something else.
        return;
    }
    let is_fitting = view.magic == VIEW_MAGIC
        && size == counter_region_size(view.n_counters as usize)
        && view.counters.addr().is_multiple_of(PAGE);
    if !is_fitting {
        channel.refuse(Refusal::Counters);
    }
    head.view = mark;
    // SAFETY: both are `size` bytes long and do not overlap; nothing else runs yet.
    unsafe { keep(view.counters, shared, size) };
    // SAFETY: these pages hold the view's counters and nothing else, and what they held was kept.
    let laid =
        unsafe { system::map_shared_over(view.counters, CHANNEL_FD, channel.header().counters.offset, size) };
    if !laid {
        channel.refuse(Refusal::Counters);
    }
    lay_fuel(channel, view);
    crate::mutants::lay(channel);
}

/// Lays the channel's fuel over the view's; without one the view has its own, which never ends.
fn lay_fuel(channel: Channel, view: &ViewInfo) {
    if channel.region(channel.header().fuel).is_none() || !view.fuel.addr().is_multiple_of(PAGE) {
        return;
    }
    // SAFETY: the page holds the view's fuel and nothing else.
    let laid =
        unsafe { system::map_shared_over(view.fuel.cast(), CHANNEL_FD, channel.header().fuel.offset, PAGE) };
    if !laid {
        channel.refuse(Refusal::Counters);
    }
}

/// The path hash; 0 in views that keep none.
pub fn path_hash() -> u64 {
    // SAFETY: the counters start with their head.
    unsafe { (*view().counters.cast::<CounterHead>()).path_hash }
}

/// Sets the path hash.
pub fn set_path_hash(path_hash: u64) {
    // SAFETY: the counters start with their head, and no code of the view runs.
    unsafe { (*view().counters.cast::<CounterHead>()).path_hash = path_hash };
}

/// The first eight bytes of the map hash; never 0.
pub fn mark(view: &ViewInfo) -> u64 {
    let (first, _) = view.map_hash.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    // 0 means that nobody lies here yet.
    u64::from_le_bytes(*first).max(1)
}

/// Copies what was counted before the runtime started, by an ifunc resolver for instance, and leaves what an earlier
/// image of this process has counted.
///
/// # Safety
/// `own` and `shared` are `size` bytes long and do not overlap.
unsafe fn keep(own: *const u8, shared: *mut u8, size: usize) {
    for index in 0..size {
        // SAFETY: the caller vouches for both.
        unsafe {
            let byte = own.add(index).read();
            if byte != 0 {
                shared.add(index).write(byte);
            }
        }
    }
}
