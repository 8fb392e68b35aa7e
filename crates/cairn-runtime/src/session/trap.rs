//! Where stopped system calls arrive.
//!
//! The handler runs on the program's stack, in the middle of the program. It carries a call out and goes on, or changes
//! where the processor goes on to the runner.

use super::{
    crash,
    snapshot::{
        Snapshot,
        signals::{self, Action, SignalsLeft},
    },
    switch::Left,
    vault::{Vault, vault},
};
use crate::system;
use cairn_abi::{
    channel::CHANNEL_FD,
    session::{RunnerMode, descriptors::END},
};
use core::{
    ffi::{c_int, c_void},
    sync::atomic::Ordering,
};

/// A handler of signals, as the kernel calls it.
pub type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Makes stopped calls arrive here.
pub fn install() -> bool {
    // SAFETY: the handler is made for this.
    unsafe { signals::set(libc::SIGSYS as usize, &action(handle, 0)) }
}

/// Has `handler` called in the middle of the program, with the signals of `mask` blocked.
pub fn action(handler: Handler, mask: u64) -> Action {
    let restorer = cairn_session_return as unsafe extern "C" fn();
    Action {
        handler: (handler as *const ()).expose_provenance(),
        // Without a stack of its own: one the program sees would not be there in a fresh process.
        flags: (libc::SA_SIGINFO | libc::SA_NODEFER) as u64 | SA_RESTORER,
        restorer: (restorer as *const ()).expose_provenance(),
        mask,
    }
}

/// Goes back to the runner from a handler of [`action`]; `left` is what is known of signals by now.
///
/// # Safety
/// The program runs. The handler is left without a word to the kernel, for which it is a function like others: it has no stack
/// of its own.
pub unsafe fn leave(vault: &mut Vault, left: SignalsLeft, how: Left) -> ! {
    vault.snapshot.signals_left = left;
    vault.switch.leave(how);
    // SAFETY: the caller vouches.
    unsafe { vault.switch.go_back() }
}

const SA_RESTORER: u64 = 0x0400_0000;

unsafe extern "C" {
    fn cairn_session_return();
}

core::arch::global_asm!(
    ".pushsection .text.cairn_session,\"ax\",@progbits",
    ".hidden cairn_session_return",
    ".globl cairn_session_return",
    ".type cairn_session_return,@function",
    "cairn_session_return:",
    "mov eax, 15",
    "syscall",
    ".popsection",
);

/// Ends the run from within the runtime, if this process is a runner; returns if it is not.
pub fn end_run() {
    let Some(vault) = vault() else { return };
    if system::thread_id() != vault.thread {
        // Another thread of the program: the run cannot go on here. The host sees an end it does not expect.
        system::exit(cairn_abi::channel::RUNTIME_EXIT_CODE);
    }
    vault.switch.leave(Left::Runtime);
    // SAFETY: the program runs: it has called the runtime.
    unsafe { vault.switch.go_back() }
}

/// # Safety
/// Called by the kernel.
unsafe extern "C" fn handle(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the state of the processor, which is what it goes on with afterwards.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let registers = &mut context.uc_mcontext.gregs;
    let Some(vault) = vault() else { return };
    let get = |index: c_int| registers[index as usize] as usize;
    let number = get(libc::REG_RAX) as i64;
    let arguments = [
        get(libc::REG_RDI),
        get(libc::REG_RSI),
        get(libc::REG_RDX),
        get(libc::REG_R10),
        get(libc::REG_R8),
        get(libc::REG_R9),
    ];
    let left = match number {
        libc::SYS_exit_group => {
            // From a snapshot nobody starts threads.
            if vault.mode == RunnerMode::Persistent && system::thread_id() != vault.thread {
                system::exit(arguments[0] as i32);
            }
            Left::Exited(arguments[0] as i32)
        }
        libc::SYS_futex if vault.mode == RunnerMode::Snapshot => match wait_at_once(arguments) {
            Some(answer) => {
                registers[libc::REG_RAX as usize] = answer as i64;
                return;
            }
            None => Left::Waiting,
        },
        _ => match carry_out(vault, number, arguments) {
            Some(answer) => {
                registers[libc::REG_RAX as usize] = answer as i64;
                return;
            }
            None => Left::Call(number as i32),
        },
    };
    // The kernel has written down the mask and the signal stack; asking it again would cost more than a small run's work.
    let mask = (&raw const context.uc_sigmask).cast::<u64>();
    // SAFETY: a set of the kernel's size lies there; the C library's type has room for more.
    let signals_left = vault.snapshot.signals.compare(unsafe { mask.read() }, &context.uc_stack);
    // SAFETY: the program runs, and the handler blocks nothing.
    unsafe { leave(vault, signals_left, left) }
}

/// Waits for a futex as long as that takes no time; `None` if it would go on. The process has no other thread that could wake
/// it, and no timer: a run that asks for one needs a process of its own.
fn wait_at_once(arguments: [usize; 6]) -> Option<isize> {
    // From now on for some operations, for others long ago.
    let at_once = [0u64; 2];
    let [address, operation, expected, _, other, bits] = arguments;
    let arguments = [address, operation, expected, (&raw const at_once).expose_provenance(), other, bits];
    // SAFETY: the kernel reads a word and a time.
    let answer = unsafe { system::call(libc::SYS_futex, arguments) };
    (answer != -libc::ETIMEDOUT as isize).then_some(answer)
}

/// Makes a call for the program and notes what has to be undone; `None` if it cannot be.
fn carry_out(vault: &mut Vault, number: i64, arguments: [usize; 6]) -> Option<isize> {
    if vault.mode == RunnerMode::Persistent {
        return None;
    }
    if matches!(number, libc::SYS_utimensat | libc::SYS_utimes | libc::SYS_utime | libc::SYS_futimesat) {
        // A change of the access time alone looks like reading to whoever watches the folder.
        vault.has_set_times = true;
        // SAFETY: the program makes the call; the kernel reads a path and times.
        return Some(unsafe { system::call(number, arguments) });
    }
    if number == libc::SYS_poll {
        return Some(poll(arguments));
    }
    if number == libc::SYS_prlimit64 {
        return tell_limit(vault, arguments);
    }
    if let Some(answer) = as_template(vault, number, arguments) {
        return Some(answer);
    }
    let snapshot = &mut vault.snapshot;
    if matches!(number, libc::SYS_umask | libc::SYS_chdir | libc::SYS_fchdir) {
        if number == libc::SYS_fchdir && (CHANNEL_FD..END).contains(&(arguments[0] as i32)) {
            return None;
        }
        snapshot.has_set_file_mask |= number == libc::SYS_umask;
        snapshot.has_moved |= number != libc::SYS_umask;
        // SAFETY: the program makes the call; the kernel reads a path at most.
        return Some(unsafe { system::call(number, arguments) });
    }
    let [address, length, third, flags, ..] = arguments;
    // SAFETY: the program makes the call, on memory that is its own; it asks for nothing that was there before the run.
    let make = || unsafe { system::call(number, arguments) };
    let is_address = |answer: isize| !(-4095..0).contains(&answer);
    match number {
        libc::SYS_mmap => {
            let fixed = (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) as usize;
            if flags & libc::MAP_GROWSDOWN as usize != 0
                || flags & fixed != 0 && snapshot.is_occupied(address, length)
            {
                return None;
            }
            snapshot.has_remapped |= flags & fixed != 0;
            let answer = make();
            if is_address(answer) && !snapshot.add(answer as usize, length) {
                return None;
            }
            Some(answer)
        }
        libc::SYS_brk => snapshot.heap.set(address),
        libc::SYS_rt_sigaction => change_signal(snapshot, arguments),
        libc::SYS_munmap if !snapshot.is_occupied(address, length) => {
            let answer = make();
            if answer == 0 {
                snapshot.has_remapped |= !snapshot.forget(address, length);
            }
            Some(answer)
        }
        libc::SYS_mprotect => (!snapshot.is_occupied(address, length)).then(make),
        libc::SYS_madvise => {
            let forgets = matches!(third as i32, libc::MADV_DONTNEED | libc::MADV_FREE);
            let is_undone = forgets && snapshot.is_kept(address, length);
            (is_undone || !snapshot.is_occupied(address, length)).then(make)
        }
        libc::SYS_mremap => {
            let [.., new_address, _] = arguments;
            let is_fixed = flags & libc::MREMAP_FIXED as usize != 0;
            if snapshot.is_occupied(address, length) || is_fixed && snapshot.is_occupied(new_address, third) {
                return None;
            }
            snapshot.has_remapped = true;
            let answer = make();
            if is_address(answer) && !snapshot.add(answer as usize, third) {
                return None;
            }
            Some(answer)
        }
        _ => None,
    }
}

/// Changes or tells what is done about a signal, of which the runner's own handler is not shown.
fn change_signal(snapshot: &mut Snapshot, arguments: [usize; 6]) -> Option<isize> {
    let [number, new, old, ..] = arguments;
    if number == libc::SIGSYS as usize || new != 0 && !snapshot.change_signal(number) {
        return None;
    }
    // SAFETY: the program makes the call.
    let answer = unsafe { system::call(libc::SYS_rt_sigaction, arguments) };
    if answer == 0 && old != 0 {
        let told = core::ptr::with_exposed_provenance_mut::<Action>(old);
        // SAFETY: the kernel has just written there.
        unsafe {
            if told.read_unaligned() == crash::action() {
                told.write_unaligned(signals::NOTHING);
            }
        }
    }
    Some(answer)
}

/// Answers who the process is as the template would, and sends signals to the right one.
fn as_template(vault: &Vault, number: i64, arguments: [usize; 6]) -> Option<isize> {
    let told = vault.regions.process;
    let own = |id: usize| id as i32 == told || id as i32 == vault.thread;
    let here = vault.thread as usize;
    let [first, second, third, ..] = arguments;
    let arguments = match number {
        libc::SYS_getpid | libc::SYS_gettid => return Some(told as isize),
        libc::SYS_getppid => return Some(vault.regions.parent as isize),
        libc::SYS_kill if first as i32 == told => [here, second, 0, 0, 0, 0],
        libc::SYS_tkill if own(first) => [here, second, 0, 0, 0, 0],
        libc::SYS_tgkill if own(first) && own(second) => [here, here, third, 0, 0, 0],
        _ => return None,
    };
    // SAFETY: the program sends itself a signal. A handler may run now, as it would after the call.
    Some(unsafe { system::call(number, arguments) })
}

/// Answers what the limit of address space is: the real one leaves room for what a session needs. `None` if the limit is
/// to be changed, or another process's.
fn tell_limit(vault: &Vault, arguments: [usize; 6]) -> Option<isize> {
    let [process, resource, new, old, ..] = arguments;
    let is_own = process == 0 || process as i32 == vault.regions.process;
    if new != 0 || !is_own || old == 0 {
        return None;
    }
    // SAFETY: the program asks; the kernel writes both numbers where it says.
    let answer = unsafe { system::call(libc::SYS_prlimit64, [0, resource, 0, old, 0, 0]) };
    let told = vault.regions.board.memory_limit.load(Ordering::Relaxed);
    if answer == 0 && told != 0 && resource == libc::RLIMIT_AS as usize {
        // SAFETY: the kernel has just written there.
        unsafe { core::ptr::with_exposed_provenance_mut::<[u64; 2]>(old).write_unaligned([told; 2]) };
    }
    Some(answer)
}

/// Asks about descriptors, of which ours are not open as far as the program knows.
fn poll(arguments: [usize; 6]) -> isize {
    let [list, length, ..] = arguments;
    // SAFETY: the program makes the call.
    let mut answer = unsafe { system::call(libc::SYS_poll, arguments) };
    if answer <= 0 {
        return answer;
    }
    for index in 0..length {
        // SAFETY: the kernel has just read and written the whole list.
        let asked = unsafe { &mut *core::ptr::with_exposed_provenance_mut::<libc::pollfd>(list).add(index) };
        if (CHANNEL_FD + 1..END).contains(&asked.fd) {
            answer += isize::from(asked.revents == 0);
            asked.revents = libc::POLLNVAL;
        }
    }
    answer
}
