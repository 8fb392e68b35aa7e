//! The kernel, asked directly.
//!
//! Raw system calls neither touch the target's `errno` nor pass through functions the target may have replaced.

#[cfg(target_arch = "aarch64")]
use core::arch::asm;
use core::ptr;

// One instruction for all calls of the runtime on this machine: a filter can tell them from the target's by where they
// come from.
#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .text.cairn_system,\"ax\",@progbits",
    ".hidden cairn_system_call",
    ".globl cairn_system_call",
    ".type cairn_system_call,@function",
    "cairn_system_call:",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "mov r10, r8",
    "mov r8, r9",
    "mov r9, [rsp + 8]",
    "syscall",
    ".hidden cairn_system_call_made",
    ".globl cairn_system_call_made",
    "cairn_system_call_made:",
    "ret",
    ".popsection",
);

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    fn cairn_system_call(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> isize;
    fn cairn_system_call_made();
}

/// Where the kernel sees the runtime's own calls come from.
#[cfg(target_arch = "x86_64")]
pub fn own_call_address() -> u64 {
    (cairn_system_call_made as *const ()).expose_provenance() as u64
}

/// A system call, as the kernel answers it: negative error numbers on failure.
///
/// # Safety
/// The call must be sound with these arguments.
#[cfg(target_arch = "x86_64")]
pub unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the caller vouches for the call itself.
    unsafe { cairn_system_call(number, a, b, c, d, e, f) }
}

/// A system call, as the kernel answers it: negative error numbers on failure.
///
/// # Safety
/// The call must be sound with these arguments.
#[cfg(target_arch = "aarch64")]
pub unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
    let result;
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: this is Linux's convention; the caller vouches for the call itself.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    result
}

/// The size of the regular file open at `descriptor`, or `None` if it is none.
pub fn regular_file_size(descriptor: i32) -> Option<u64> {
    // SAFETY: `stat` is plain data, for which zeros are a value.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    let place = (&raw mut stat).expose_provenance();
    // SAFETY: the kernel writes one `stat`, for which there is room.
    let answer = unsafe { call(libc::SYS_fstat, [descriptor as usize, place, 0, 0, 0, 0]) };
    let is_regular = stat.st_mode & libc::S_IFMT == libc::S_IFREG;
    (answer == 0 && is_regular).then_some(u64::try_from(stat.st_size).unwrap_or(0))
}

/// What the kernel says about a file.
pub fn status_of(folder: i32, path: &core::ffi::CStr) -> Option<libc::stat> {
    // SAFETY: `stat` is plain data, for which zeros are a value.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    let place = (&raw mut status).expose_provenance();
    let arguments = [folder as usize, path.as_ptr().expose_provenance(), place, 0, 0, 0];
    // SAFETY: the kernel reads the path and writes one `stat`.
    (unsafe { call(libc::SYS_newfstatat, arguments) } == 0).then_some(status)
}

/// Reads once, again after an interruption; `None` on failure.
pub fn read(descriptor: i32, bytes: &mut [u8]) -> Option<usize> {
    loop {
        let arguments = [descriptor as usize, bytes.as_mut_ptr().expose_provenance(), bytes.len(), 0, 0, 0];
        // SAFETY: the kernel writes at most `bytes.len()` bytes into `bytes`.
        let answer = unsafe { call(libc::SYS_read, arguments) };
        if answer != -(libc::EINTR as isize) {
            return usize::try_from(answer).ok();
        }
    }
}

/// Opens a file for reading; `path` ends in a zero byte.
///
/// # Safety
/// `path` points to a string that ends in a zero byte.
pub unsafe fn open_for_reading(path: *const core::ffi::c_char) -> Option<i32> {
    let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
    // SAFETY: the kernel reads the string, which the caller vouches for.
    let answer = unsafe {
        call(libc::SYS_openat, [libc::AT_FDCWD as usize, path.expose_provenance(), flags, 0, 0, 0])
    };
    i32::try_from(answer).ok().filter(|descriptor| *descriptor >= 0)
}

/// Where a descriptor is in its file; negative if it has no place.
pub fn position(descriptor: i32) -> isize {
    // SAFETY: the call takes numbers and changes nothing.
    unsafe { call(libc::SYS_lseek, [descriptor as usize, 0, libc::SEEK_CUR as usize, 0, 0, 0]) }
}

/// Goes back to the start of a file; of anything else, nowhere.
pub fn rewind(descriptor: i32) {
    // SAFETY: seeking touches no memory.
    unsafe { call(libc::SYS_lseek, [descriptor as usize, 0, libc::SEEK_SET as usize, 0, 0, 0]) };
}

/// Closes a descriptor the runtime opened.
pub fn close(descriptor: i32) {
    // SAFETY: closing a descriptor touches no memory.
    unsafe { call(libc::SYS_close, [descriptor as usize, 0, 0, 0, 0, 0]) };
}

/// Writes `text` to standard error, as far as it can.
pub fn complain(text: &[u8]) {
    // SAFETY: the kernel only reads `text`.
    unsafe { call(libc::SYS_write, [2, text.as_ptr().expose_provenance(), text.len(), 0, 0, 0]) };
}

/// Fresh zeroed memory, readable and writable; `None` when there is none.
pub fn map_private(size: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the kernel chooses a place nothing lies at.
    unsafe { map(ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) }
}

/// Maps a part of a file, shared, readable and writable.
pub fn map_shared(descriptor: i32, offset: u64, size: usize) -> Option<*mut u8> {
    // SAFETY: the kernel chooses a place nothing lies at.
    unsafe {
        map(ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, descriptor, offset)
    }
}

/// Maps a part of a file over whole pages at `place`, shared, readable and writable.
///
/// # Safety
/// The pages at `place` belong to the caller, and nobody relies on what they hold.
pub unsafe fn map_shared_over(place: *mut u8, descriptor: i32, offset: u64, size: usize) -> bool {
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    // SAFETY: the caller gives up the pages.
    unsafe { map(place, size, libc::PROT_READ | libc::PROT_WRITE, flags, descriptor, offset).is_some() }
}

/// # Safety
/// With `MAP_FIXED`, the pages at `place` belong to the caller.
unsafe fn map(
    place: *mut u8,
    size: usize,
    protection: i32,
    flags: i32,
    descriptor: i32,
    offset: u64,
) -> Option<*mut u8> {
    let arguments = [
        place.expose_provenance(),
        size,
        protection as usize,
        flags as usize,
        descriptor as usize,
        offset as usize,
    ];
    // SAFETY: a new mapping disturbs nothing, except with `MAP_FIXED`, where the caller vouches.
    let answer = unsafe { call(libc::SYS_mmap, arguments) };
    let is_error = (-4095..=0).contains(&answer);
    (!is_error).then(|| ptr::with_exposed_provenance_mut(answer as usize))
}

/// Gives back memory from [`map_private`].
///
/// # Safety
/// Nothing refers to the mapping any more.
pub unsafe fn unmap(place: *mut u8, size: usize) {
    // SAFETY: the caller gives the pages up.
    unsafe { call(libc::SYS_munmap, [place.expose_provenance(), size, 0, 0, 0, 0]) };
}

/// Makes whole pages inaccessible.
///
/// # Safety
/// The pages belong to the caller, and nobody uses what they hold.
pub unsafe fn forbid(place: *mut u8, size: usize) {
    // SAFETY: the caller gives the pages up.
    unsafe { call(libc::SYS_mprotect, [place.expose_provenance(), size, libc::PROT_NONE as usize, 0, 0, 0]) };
}

/// Splits the process: the child's id in the parent, 0 in the child, `None` when the kernel refuses.
///
/// The C library keeps the id of its thread in memory and signals itself by it (`abort`), so the kernel is asked to
/// write the child's there.
pub fn fork() -> Option<i32> {
    const PR_GET_TID_ADDRESS: usize = 40;
    let mut thread_id: usize = 0;
    let (mut robust_head, mut robust_length): (usize, usize) = (0, 0);
    let place = |word: &mut usize| (&raw mut *word).expose_provenance();
    // SAFETY: the kernel writes one word at each place. The child has a copy of everything and goes on from here.
    unsafe {
        call(libc::SYS_prctl, [PR_GET_TID_ADDRESS, place(&mut thread_id), 0, 0, 0, 0]);
        let robust = [0, place(&mut robust_head), place(&mut robust_length), 0, 0, 0];
        let has_robust = call(libc::SYS_get_robust_list, robust) == 0;
        let mut flags = libc::SIGCHLD;
        if thread_id != 0 {
            flags |= libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID;
        }
        let forked = call(libc::SYS_clone, clone_arguments(flags as usize, thread_id));
        if forked == 0 && has_robust && robust_head != 0 {
            call(libc::SYS_set_robust_list, [robust_head, robust_length, 0, 0, 0, 0]);
        }
        i32::try_from(forked).ok().filter(|forked| *forked >= 0)
    }
}

#[cfg(target_arch = "x86_64")]
fn clone_arguments(flags: usize, child_thread_id: usize) -> [usize; 6] {
    [flags, 0, 0, child_thread_id, 0, 0]
}

#[cfg(not(target_arch = "x86_64"))]
fn clone_arguments(flags: usize, child_thread_id: usize) -> [usize; 6] {
    [flags, 0, 0, 0, child_thread_id, 0]
}

/// Makes the kernel end this process when its parent ends.
pub fn die_with_parent() {
    let arguments = [libc::PR_SET_PDEATHSIG as usize, libc::SIGKILL as usize, 0, 0, 0, 0];
    // SAFETY: touches no memory.
    unsafe { call(libc::SYS_prctl, arguments) };
}

/// Waits until a child has ended; its wait status, and the most memory it held in bytes.
pub fn wait_for_child(child: i32) -> (i32, u64) {
    let mut status: i32 = 0;
    // SAFETY: `rusage` is plain data, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    let (status_place, usage_place) =
        ((&raw mut status).expose_provenance(), (&raw mut usage).expose_provenance());
    loop {
        // SAFETY: the kernel writes a status and a usage, for which there is room.
        let waited = unsafe { call(libc::SYS_wait4, [child as usize, status_place, 0, usage_place, 0, 0]) };
        if waited != -(libc::EINTR as isize) {
            return (status, u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024);
        }
    }
}

/// The number of this process.
pub fn process_id() -> i32 {
    // SAFETY: touches no memory.
    unsafe { call(libc::SYS_getpid, [0; 6]) as i32 }
}

/// The number of its parent.
pub fn parent_id() -> i32 {
    // SAFETY: touches no memory.
    unsafe { call(libc::SYS_getppid, [0; 6]) as i32 }
}

/// The number of the calling thread.
pub fn thread_id() -> i32 {
    // SAFETY: touches no memory.
    unsafe { call(libc::SYS_gettid, [0; 6]) as i32 }
}

/// A page that starts with a 1, and is all zero in children of this process.
pub fn page_of_this_process() -> Option<*const u8> {
    const PAGE: usize = 4096;
    let page = map_private(PAGE)?;
    // SAFETY: the page is ours.
    unsafe {
        let advice = libc::MADV_WIPEONFORK as usize;
        if call(libc::SYS_madvise, [page.expose_provenance(), PAGE, advice, 0, 0, 0]) != 0 {
            return None;
        }
        page.write(1);
    }
    Some(page)
}

/// Address space that cannot be used until [`allow`] is called on parts of it.
pub fn reserve(size: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the kernel chooses a place nothing lies at.
    unsafe { map(ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0) }
}

/// Fresh zeroed memory between inaccessible pages, which keep the kernel from joining it with what lies beside; `None` when
/// there is none.
pub fn map_apart(size: usize) -> Option<*mut u8> {
    const PAGE: usize = 4096;
    let extent = reserve(size + 2 * PAGE)?;
    // SAFETY: within the reservation, which is ours.
    unsafe {
        let place = extent.add(PAGE);
        allow(place, size).then_some(place)
    }
}

/// Makes reserved pages readable and writable.
///
/// # Safety
/// The pages belong to the caller.
pub unsafe fn allow(place: *mut u8, size: usize) -> bool {
    // SAFETY: the caller vouches.
    unsafe { protect(place, size, libc::PROT_READ | libc::PROT_WRITE) }
}

/// Makes pages readable only.
///
/// # Safety
/// Nobody writes them any more.
pub unsafe fn make_read_only(place: *mut u8, size: usize) -> bool {
    // SAFETY: the caller vouches.
    unsafe { protect(place, size, libc::PROT_READ) }
}

unsafe fn protect(place: *mut u8, size: usize, protection: i32) -> bool {
    // SAFETY: the caller vouches.
    unsafe { call(libc::SYS_mprotect, [place.expose_provenance(), size, protection as usize, 0, 0, 0]) == 0 }
}

/// Lets another thread run.
pub fn pause() {
    // SAFETY: yielding touches no memory.
    unsafe { call(libc::SYS_sched_yield, [0; 6]) };
}

/// Ends the process at once: no handlers, nothing flushed.
pub fn exit(code: i32) -> ! {
    loop {
        // SAFETY: ending the process cannot be unsound.
        unsafe { call(libc::SYS_exit_group, [code as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Sends the calling thread a signal; a handler of the target runs as for any signal.
pub fn raise(signal: i32) {
    // SAFETY: these calls touch no memory.
    unsafe {
        let process = call(libc::SYS_getpid, [0; 6]);
        let thread = call(libc::SYS_gettid, [0; 6]);
        call(libc::SYS_tgkill, [process as usize, thread as usize, signal as usize, 0, 0, 0]);
    }
}

/// Ends the process as `abort` would.
pub fn abort() -> ! {
    raise(libc::SIGABRT);
    // Where the target ignores the signal.
    exit(128 + libc::SIGABRT)
}
