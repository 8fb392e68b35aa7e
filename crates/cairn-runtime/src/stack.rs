//! Tells the host where the program is when a fatal signal arrives, or when the host asks.
//!
//! Only runs whose channel has a stack region do so; [`cairn_abi::stack`] is the contract. The handlers are installed
//! before anything of the program runs, and a program that installs its own replaces them, as it would replace the
//! default: then the host is told nothing. What the program does otherwise is not changed, and a signal acts in the end as
//! it would have acted.

use crate::{channel::Channel, system};
use cairn_abi::stack::{
    MAPS_OFFSET, MAPS_SIZE, N_SAMPLES, SAMPLE_SIGNAL, STACK_POINTER, STACK_REGION_SIZE, STACK_SIZE, Sample,
    StackHead, stack_offset,
};
use core::{
    ffi::{c_int, c_void},
    ptr,
    sync::atomic::{AtomicI32, AtomicPtr, Ordering},
};

/// Signals that end a program which does something it cannot do, or writes without end.
const FATAL: [c_int; 7] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP, libc::SIGXFSZ];

/// The registers of an interrupted context in the order of the unwind tables.
const REGISTERS: [c_int; cairn_abi::stack::N_REGISTERS] = [
    libc::REG_RAX,
    libc::REG_RDX,
    libc::REG_RCX,
    libc::REG_RBX,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_RBP,
    libc::REG_RSP,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
    libc::REG_RIP,
];

const PAGE: usize = cairn_abi::channel::PAGE;

/// The handlers run when the program's own stack may be used up.
const HANDLER_STACK: usize = 64 << 10;

/// How far above the stack pointer memory is looked for, when there is none: a function with large variables moves the
/// pointer far before it touches anything.
const MAX_GAP: usize = 64 << 20;

/// The region, once handlers are installed.
static REGION: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// The process that tells; its children do not.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Installs the handlers, if the host wants to be told.
pub(crate) fn watch(channel: Channel) {
    let Some((region, size)) = channel.region(channel.header().stack) else { return };
    let Some(stack) = system::map_private(HANDLER_STACK).filter(|_| size >= STACK_REGION_SIZE) else {
        return;
    };
    REGION.store(region, Ordering::Relaxed);
    PROCESS.store(system::process_id(), Ordering::Relaxed);
    let stack = libc::stack_t { ss_sp: stack.cast(), ss_flags: 0, ss_size: HANDLER_STACK };
    // SAFETY: the memory is the handlers' alone, and stays.
    unsafe { system::call(libc::SYS_sigaltstack, [(&raw const stack).expose_provenance(), 0, 0, 0, 0, 0]) };
    let handler = handle as unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    let restorer = cairn_stack_return as unsafe extern "C" fn();
    let action = Action {
        handler: (handler as *const ()).expose_provenance(),
        flags: (libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART) as u64 | SA_RESTORER,
        restorer: (restorer as *const ()).expose_provenance(),
        // Nothing disturbs a handler; a fault in one ends the process.
        mask: u64::MAX,
    };
    for signal in FATAL.into_iter().chain([SAMPLE_SIGNAL]) {
        set_action(signal, &action);
    }
}

/// As the kernel lays it out.
#[repr(C)]
struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

const SA_RESTORER: u64 = 0x0400_0000;

/// Size of a set of signals, as the kernel wants to hear it.
const SET_SIZE: usize = 8;

const AS_USUAL: Action = Action { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 };

fn set_action(signal: c_int, action: &Action) {
    let place = (&raw const *action).expose_provenance();
    // SAFETY: the kernel reads one action, whose handler is made for this.
    unsafe { system::call(libc::SYS_rt_sigaction, [signal as usize, place, 0, SET_SIZE, 0, 0]) };
}

unsafe extern "C" {
    fn cairn_stack_return();
}

core::arch::global_asm!(
    ".pushsection .text.cairn_stack,\"ax\",@progbits",
    ".hidden cairn_stack_return",
    ".globl cairn_stack_return",
    ".type cairn_stack_return,@function",
    "cairn_stack_return:",
    "mov eax, 15",
    "syscall",
    ".popsection",
);

/// # Safety
/// Called by the kernel, as a handler with three arguments.
unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let region = REGION.load(Ordering::Relaxed);
    let mut is_last = false;
    if PROCESS.load(Ordering::Relaxed) == system::process_id() {
        // SAFETY: the region starts on a page, is as large as the contract says, and stays mapped.
        let head = unsafe { &*region.cast::<StackHead>() };
        let index = head.n_begun.fetch_add(1, Ordering::Relaxed) as usize;
        is_last = index + 1 >= N_SAMPLES;
        if let Some(sample) = head.samples.get(index) {
            note_maps(head, region);
            // SAFETY: the kernel passes a filled `siginfo_t` and a `ucontext_t`; the place of the stack is within the
            // region.
            unsafe {
                note(sample, signal, &*info, &*context.cast(), region.add(stack_offset(index)));
            }
            sample.is_complete.store(1, Ordering::Release);
        }
    }
    if signal != SAMPLE_SIGNAL {
        set_action(signal, &AS_USUAL);
        // It waits until the handler has returned, and then acts as it would have acted.
        system::raise(signal);
    } else if is_last {
        // The host has seen enough, and is about to end the process anyway.
        system::exit(0);
    }
}

fn note(sample: &Sample, signal: c_int, info: &libc::siginfo_t, context: &libc::ucontext_t, place: *mut u8) {
    let registers = &context.uc_mcontext.gregs;
    let register = |number: c_int| registers.get(number as usize).copied().unwrap_or(0);
    for (slot, number) in sample.registers.iter().zip(REGISTERS) {
        slot.store(register(number) as u64, Ordering::Relaxed);
    }
    sample.signal.store(signal as u32, Ordering::Relaxed);
    sample.code.store(info.si_code as u32, Ordering::Relaxed);
    // SAFETY: signals without an address have other plain data there.
    sample.fault.store(unsafe { info.si_addr() }.addr() as u64, Ordering::Relaxed);
    let pointer = sample.registers[STACK_POINTER].load(Ordering::Relaxed) as usize;
    let (start, length) = copy_stack(pointer, place);
    sample.stack_start.store(start as u64, Ordering::Relaxed);
    sample.stack_length.store(length as u64, Ordering::Relaxed);
}

/// Copies the pages from the stack pointer upwards to `place`, as far as there are any; where they start, and how many
/// bytes.
fn copy_stack(pointer: usize, place: *mut u8) -> (usize, usize) {
    let first = pointer & !(PAGE - 1);
    let found = (0..MAX_GAP / PAGE)
        .filter_map(|index| first.checked_add(index * PAGE))
        .find(|page| is_readable(*page));
    let Some(start) = found else { return (first, 0) };
    let mut length = 0;
    while length < STACK_SIZE {
        let Some(page) = start.checked_add(length).filter(|page| is_readable(*page)) else { break };
        // SAFETY: the kernel has just read this page, and there is room for it.
        unsafe {
            ptr::copy_nonoverlapping(ptr::with_exposed_provenance::<u8>(page), place.add(length), PAGE);
        }
        length += PAGE;
    }
    (start, length)
}

/// Whether there is memory at an address, told by the kernel: it reads a set of signals before it notices that it does not
/// know what to do with it.
fn is_readable(address: usize) -> bool {
    const NOTHING_KNOWN: usize = 99;
    // SAFETY: nothing is changed, because the first argument is no known one.
    let answer =
        unsafe { system::call(libc::SYS_rt_sigprocmask, [NOTHING_KNOWN, address, 0, SET_SIZE, 0, 0]) };
    answer == -(libc::EINVAL as isize)
}

/// Writes the mappings' text, once.
fn note_maps(head: &StackHead, region: *mut u8) {
    if head.maps_length.load(Ordering::Relaxed) != 0 {
        return;
    }
    // SAFETY: a string with a zero byte at its end.
    let Some(file) = (unsafe { system::open_for_reading(c"/proc/self/maps".as_ptr()) }) else { return };
    // SAFETY: this part of the region is for the text, and only one handler writes at a time.
    let text = unsafe { core::slice::from_raw_parts_mut(region.add(MAPS_OFFSET), MAPS_SIZE) };
    let mut length = 0;
    while let Some(rest) = text.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match system::read(file, rest) {
            Some(n) if n > 0 => length += n,
            _ => break,
        }
    }
    system::close(file);
    head.maps_length.store(length as u32, Ordering::Release);
}
