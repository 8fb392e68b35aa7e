//! The kernel, asked directly.
//!
//! Raw system calls neither touch the target's `errno` nor pass through functions the target may have replaced.

use core::{arch::asm, ptr};

/// A system call, as the kernel answers it: negative error numbers on failure.
///
/// # Safety
/// The call must be sound with these arguments.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
    let result;
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: this is Linux's convention; the caller vouches for the call itself.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// A system call, as the kernel answers it: negative error numbers on failure.
///
/// # Safety
/// The call must be sound with these arguments.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: i64, arguments: [usize; 6]) -> isize {
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

/// Ends the process as `abort` would.
pub fn abort() -> ! {
    // SAFETY: these calls touch no memory; a handler of the target runs as for any signal.
    unsafe {
        let process = call(libc::SYS_getpid, [0; 6]);
        let thread = call(libc::SYS_gettid, [0; 6]);
        call(libc::SYS_tgkill, [process as usize, thread as usize, libc::SIGABRT as usize, 0, 0, 0]);
    }
    // Where the target ignores the signal.
    exit(128 + libc::SIGABRT)
}
