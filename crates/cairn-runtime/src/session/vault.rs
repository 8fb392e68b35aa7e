//! Memory of a runner that is not the program's.
//!
//! ```text
//!   guard | stack of the runner, Vault, text, arguments, buffer | guard
//! ```
//! Guards keep the kernel from joining it with neighbours and end the stack and the buffer; there are no more of them, because
//! programs that read their own mappings pay for each. It is found through one pointer on a page of its own, which is
//! read-only while the program runs.

use super::{Entry, Part, Regions, input::Written, snapshot::Snapshot, switch::Switch};
use crate::system;
use cairn_abi::{channel::PAGE, session::RunnerMode};
use core::{
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

/// Bytes of the runner's stack.
const STACK: usize = 128 << 10;
/// Room for the text of `/proc/self/maps`.
const TEXT: usize = 512 << 10;

/// What a runner remembers.
pub struct Vault {
    pub regions: Regions,
    pub entry: Entry,
    pub mode: RunnerMode,
    pub switch: Switch,
    pub snapshot: Snapshot,
    /// Argument and environment strings of the current run, and the pointers to them.
    pub arguments: Part,
    /// How much of `arguments` the last run was given.
    pub arguments_used: usize,
    /// Room for text the kernel writes about this process.
    pub text: Part,
    /// Memory whose end is followed by a guard, for harness buffers.
    pub buffer: Part,
    /// How much of the end of `buffer` was written since it was clear before what the last run was given.
    pub buffer_used: usize,
    /// Bytes in the file behind standard input, where that is known.
    pub stdin_size: Option<u64>,
    /// The file that was written last.
    pub written: Option<Written>,
    /// Whether the current run has set times of files.
    pub has_set_times: bool,
    /// The watches on what `/proc` shows of this process, by their numbers.
    pub proc_watches: [i32; 3],
    /// A byte that is 0 in children of the runner; only where these are possible.
    pub own: *const u8,
    /// The runner's thread.
    pub thread: i32,
    /// All of this, guards included.
    pub extent: Part,
}

/// A page that holds nothing else.
#[repr(C, align(4096))]
struct Sealed {
    vault: AtomicPtr<Vault>,
    rest: [u8; PAGE - size_of::<usize>()],
}

static SEALED: Sealed =
    Sealed { vault: AtomicPtr::new(ptr::null_mut()), rest: [0; PAGE - size_of::<usize>()] };

/// The vault of this process, if it is a runner.
pub fn vault() -> Option<&'static mut Vault> {
    // SAFETY: the vault was completed before the pointer was set, and a runner has one thread that uses it: either its
    // loop or the program, which comes here from a trap.
    unsafe { SEALED.vault.load(Ordering::Relaxed).as_mut() }
}

/// Makes the vault and returns where the runner's stack ends; `None` when there is no memory.
pub fn make(regions: Regions, entry: Entry, mode: RunnerMode) -> Option<usize> {
    let vault_size = size_of::<Vault>().next_multiple_of(PAGE);
    // Pointers take more than strings when arguments are empty: an empty one is one byte and eight of pointer.
    let arguments_size = (regions.inputs.size * 9 + PAGE).next_multiple_of(PAGE);
    let buffer_size = regions.inputs.size.next_multiple_of(PAGE);
    let sizes = [STACK, vault_size, TEXT, arguments_size, buffer_size];
    let usable = sizes.iter().sum::<usize>();
    let extent = Part { start: system::reserve(usable + 2 * PAGE)?, size: usable + 2 * PAGE };
    let mut at = PAGE;
    let parts = sizes.map(|size| {
        // SAFETY: within the reservation, which is ours.
        let part = Part { start: unsafe { extent.start.add(at) }, size };
        at += size;
        part
    });
    let [stack, place, text, arguments, buffer] = parts;
    // SAFETY: as above.
    if !unsafe { system::allow(stack.start, usable) } {
        return None;
    }
    let place = place.start.cast::<Vault>();
    // SAFETY: the part is large enough, page-aligned and writable, and zeros are a snapshot that holds nothing.
    unsafe {
        (&raw mut (*place).regions).write(regions);
        (&raw mut (*place).entry).write(entry);
        (&raw mut (*place).mode).write(mode);
        (&raw mut (*place).switch).write(Switch::new());
        (&raw mut (*place).arguments).write(arguments);
        (&raw mut (*place).stdin_size).write(None);
        (&raw mut (*place).written).write(None);
        (&raw mut (*place).text).write(text);
        (&raw mut (*place).buffer).write(buffer);
        (&raw mut (*place).thread).write(system::thread_id());
        (&raw mut (*place).extent).write(extent);
    }
    SEALED.vault.store(place, Ordering::Relaxed);
    // SAFETY: the page holds the pointer and nothing else.
    unsafe { system::make_read_only((&raw const SEALED).cast_mut().cast(), PAGE) };
    Some(stack.start.addr() + stack.size)
}
