//! Labels of values: the target's side of [`cairn_abi::symbolic`].
//!
//! Instrumented code calls [`build`] for labels of what it computes, [`memory`] for what it loads and stores, and [`path`] for
//! the conditions it evaluates. A detailed view also calls [`frames`] for functions that are entered and left, and [`sites`] for
//! expressions that the host asks about. Where the input comes in, [`sources`] gives bytes their labels. All of it ends in one table of
//! [`nodes`], shared with the host.
//!
//! Without a host that asks for it nothing gets a label, and the view is an ordinary program. In a session [`renewal`] makes
//! every run the first one.

pub mod build;
pub mod frames;
pub mod handlers;
pub mod jumps;
pub mod lines;
pub mod mappings;
pub mod memory;
pub mod nodes;
pub mod path;
pub mod renewal;
pub mod sites;
pub mod sources;
pub mod tables;
pub mod threads;
pub mod variable;
pub mod words;
pub mod written;

use crate::{channel::Channel, system};
use cairn_abi::{
    channel::{PAGE, Refusal, TraceLevel},
    symbolic::{
        Cut, NODE_SIZE, SHADOW_BASE, SHADOW_SIZE, SymbolicHead,
        state::{CallState, MAX_ARGUMENTS, MAX_RESULTS},
    },
    view::ViewKind,
};
use core::sync::atomic::{AtomicPtr, Ordering};

/// What is on the way between a caller and the function it calls.
#[unsafe(no_mangle)]
#[used]
pub static mut cairn_symbolic_state: CallState = CallState {
    callee: 0,
    returned: 0,
    notes_all: 0,
    n_arguments: 0,
    results: [0; MAX_RESULTS],
    arguments: [0; MAX_ARGUMENTS],
    passed: [0; MAX_ARGUMENTS],
    copies: [0; MAX_ARGUMENTS],
};

static HEAD: AtomicPtr<SymbolicHead> = AtomicPtr::new(core::ptr::null_mut());

/// The head of the symbolic region, if the host asks for labels.
pub fn head() -> Option<&'static SymbolicHead> {
    // SAFETY: set once to a page of the channel, which stays mapped; all its fields are atomic.
    unsafe { HEAD.load(Ordering::Relaxed).as_ref() }
}

/// Stops noting anything, because what follows could be wrong. What was noted stays.
pub fn cut(why: Cut) {
    if let Some(head) = head() {
        let _ = head.cut.compare_exchange(0, why as u32, Ordering::Relaxed, Ordering::Relaxed);
    }
    nodes::stop();
    path::stop();
}

/// Ends the notes of a child, whose labels would be written over its parent's.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_stop() {
    nodes::stop();
    path::stop();
}

/// Maps the shadow and the table. Every symbolic view needs a shadow, with a host and without.
///
/// To be called before any code of the program.
pub fn lay(channel: Option<Channel>) {
    if crate::counters::view().kind != ViewKind::Symbolic as u32 {
        return;
    }
    if !map_shadow() {
        match channel {
            Some(channel) => channel.refuse(Refusal::Shadow),
            None => {
                system::complain(b"error: no room for the shadow of a symbolic view\n");
                system::exit(cairn_abi::channel::RUNTIME_EXIT_CODE)
            }
        }
    }
    let Some(channel) = channel else { return };
    let header = channel.header();
    let (Some((head, _)), Some((table, size))) =
        (channel.region(header.symbolic), channel.region(header.nodes))
    else {
        return;
    };
    let head = head.cast::<SymbolicHead>();
    // SAFETY: the first page of the region, which stays mapped; all its fields are atomic.
    if unsafe { (*head).n_nodes.swap(1, Ordering::Relaxed) } != 0 {
        // The program has started itself anew: the trace is that of the first.
        return;
    }
    if !nodes::begin(table, size / NODE_SIZE) {
        channel.refuse(Refusal::Shadow);
    }
    HEAD.store(head, Ordering::Relaxed);
    tables::begin(channel.region(header.tables));
    path::begin(channel);
    let sources = channel.region(header.sources).map_or(&[][..], |(start, size)| {
        // SAFETY: the region stays mapped, and the host wrote it before the run.
        unsafe { core::slice::from_raw_parts(start, size) }
    });
    sources::begin(sources);
    sites::begin(channel);
    mappings::check();
    if header.trace_level == TraceLevel::All as u32 {
        if !frames::begin() {
            channel.refuse(Refusal::Shadow);
        }
        // SAFETY: nothing of the program runs yet.
        unsafe { cairn_symbolic_state.notes_all = 1 };
    }
}

/// Whether conditions without labels are noted too.
pub fn notes_all() -> bool {
    // SAFETY: a symbolic view has one thread.
    unsafe { cairn_symbolic_state.notes_all != 0 }
}

/// A function that is not followed was given something, which is data of the input if `any` is not 0.
///
/// # Safety
/// `name` is a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_given(name: *const core::ffi::c_char, any: u64) {
    if any != 0 && nodes::is_on() {
        // SAFETY: promised by the caller.
        unsafe { cairn_symbolic_unmodelled(name) };
    }
}

/// A function that is not followed was given data of the input.
///
/// # Safety
/// `name` is a string that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cairn_symbolic_unmodelled(name: *const core::ffi::c_char) {
    let Some(head) = head() else { return };
    // SAFETY: promised by the caller.
    let name = unsafe { core::ffi::CStr::from_ptr(name) }.to_bytes();
    for entry in &head.unmodelled {
        let kept = &name[..name.len().min(entry.name.len())];
        if entry.count.load(Ordering::Relaxed) == 0 {
            for (place, byte) in entry.name.iter().zip(kept) {
                place.store(*byte, Ordering::Relaxed);
            }
            entry.count.store(1, Ordering::Relaxed);
            return;
        }
        let is_same = entry.name.iter().zip(kept).all(|(place, byte)| place.load(Ordering::Relaxed) == *byte)
            && entry.name.get(kept.len()).is_none_or(|end| end.load(Ordering::Relaxed) == 0);
        if is_same {
            entry.count.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
}

/// Ends the trace; see [`Cut`]. Called by functions of ours that replace the C library's.
#[unsafe(no_mangle)]
pub extern "C" fn cairn_symbolic_cut(why: u32) {
    // A child that notes nothing has nothing to say about its parent's trace.
    if nodes::is_on() {
        cut(Cut::from_target(why));
    }
}

fn map_shadow() -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let arguments =
        [SHADOW_BASE as usize, SHADOW_SIZE as usize, protection as usize, flags as usize, usize::MAX, 0];
    // SAFETY: the kernel maps nothing over anything that is there.
    let answer = unsafe { system::call(libc::SYS_mmap, arguments) };
    if answer as usize != SHADOW_BASE as usize {
        return false;
    }
    for advice in [libc::MADV_DONTDUMP, libc::MADV_NOHUGEPAGE] {
        let arguments = [SHADOW_BASE as usize, SHADOW_SIZE as usize, advice as usize, 0, 0, 0];
        // SAFETY: the mapping was just made; the advice changes nothing in it.
        unsafe { system::call(libc::SYS_madvise, arguments) };
    }
    debug_assert!(SHADOW_SIZE.is_multiple_of(PAGE as u64));
    true
}
