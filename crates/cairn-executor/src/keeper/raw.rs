//! System calls for the keeper: no allocation, no locks, no panics.
//!
//! The keeper is forked from a process that may have threads, so a lock another thread held stays held for ever.

use libc::{c_char, c_int, c_long, pid_t};

/// What a failed call left in `errno`.
pub(super) fn errno() -> c_int {
    // SAFETY: the location of errno is always valid for the calling thread.
    unsafe { *libc::__errno_location() }
}

/// Turns the usual "negative means failed" into a result.
pub(super) fn check(result: impl Into<i64>) -> Result<i64, c_int> {
    let result = result.into();
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// A plain system call with up to five arguments.
pub(super) fn syscall(number: c_long, arguments: [usize; 5]) -> Result<i64, c_int> {
    let [a, b, c, d, e] = arguments;
    // SAFETY: every caller passes what the call documents; pointers come from live C strings and buffers.
    check(unsafe { libc::syscall(number, a, b, c, d, e) })
}

/// Nanoseconds on the monotonic clock.
pub(super) fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Leaves at once, running nothing of the process this is a fork of.
pub(super) fn leave(code: c_int) -> ! {
    // SAFETY: `_exit` may be called anywhere.
    unsafe { libc::_exit(code) }
}

/// Closes a descriptor; closing one that is not open is harmless here.
pub(super) fn close(fd: c_int) {
    // SAFETY: the keeper owns all its descriptors.
    unsafe { libc::close(fd) };
}

/// Reads the start of a file of `/proc`.
pub(super) fn read_file(path: *const c_char, buffer: &mut [u8]) -> Result<&[u8], c_int> {
    // SAFETY: `path` is a C string by the caller's promise; the buffer is valid for its length.
    unsafe {
        let fd = check(libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC))? as c_int;
        let n = check(libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) as i64);
        libc::close(fd);
        Ok(buffer.get(..n? as usize).unwrap_or(&[]))
    }
}

/// A path below `/proc` made of a number, without allocating.
#[derive(Clone, Copy)]
pub(super) struct ProcPath {
    bytes: [u8; 64],
    length: usize,
}

impl ProcPath {
    pub(super) fn new() -> Self {
        Self { bytes: [0; 64], length: 0 }.text(b"/proc/")
    }

    /// What `/proc` shows of a process's first thread. A session watches what is opened of its processes themselves, and
    /// must not take the keeper for the program; it does not see this.
    pub(super) fn of_main_thread(pid: pid_t) -> Self {
        Self::new().number(pid).text(b"/task/").number(pid)
    }

    pub(super) fn text(mut self, text: &[u8]) -> Self {
        for byte in text {
            // The last byte stays zero, so the path always ends.
            if self.length + 1 < self.bytes.len()
                && let Some(slot) = self.bytes.get_mut(self.length)
            {
                *slot = *byte;
                self.length += 1;
            }
        }
        self
    }

    pub(super) fn number(self, pid: pid_t) -> Self {
        let mut digits = [0u8; 10];
        let mut start = digits.len();
        let mut rest = pid.unsigned_abs();
        loop {
            start -= 1;
            if let Some(slot) = digits.get_mut(start) {
                *slot = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 || start == 0 {
                break;
            }
        }
        self.text(digits.get(start..).unwrap_or(&[]))
    }

    pub(super) fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}

/// Receives one byte and up to `N` descriptors; no byte means that the other side is gone.
pub(super) fn receive<const N: usize>(
    socket: c_int,
    flags: c_int,
) -> Result<(Option<u8>, [c_int; N]), c_int> {
    let mut byte = 0u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = [0u64; 16];
    let mut fds = [-1; N];
    // SAFETY: the header points at live buffers of the given sizes, and the walk over control messages stays
    // within what the kernel filled in.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&control);
        let n = loop {
            match check(libc::recvmsg(socket, &mut header, flags | libc::MSG_CMSG_CLOEXEC) as i64) {
                Err(libc::EINTR) => {}
                other => break other? as usize,
            }
        };
        let message = libc::CMSG_FIRSTHDR(&header);
        if !message.is_null() && (*message).cmsg_type == libc::SCM_RIGHTS {
            let n_fds = ((*message).cmsg_len - libc::CMSG_LEN(0) as usize) / size_of::<c_int>();
            let data = libc::CMSG_DATA(message).cast::<c_int>();
            for (index, slot) in fds.iter_mut().enumerate().take(n_fds) {
                *slot = data.add(index).read_unaligned();
            }
        }
        Ok(((n > 0).then_some(byte), fds))
    }
}

/// Sends one byte and, if it is not negative, one descriptor.
pub(super) fn send(socket: c_int, mut byte: u8, fd: c_int) -> Result<(), c_int> {
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = [0u64; 4];
    // SAFETY: as in `receive`; one descriptor fits the control buffer.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        header.msg_iov = &mut part;
        header.msg_iovlen = 1;
        if fd >= 0 {
            header.msg_control = control.as_mut_ptr().cast();
            header.msg_controllen = libc::CMSG_SPACE(size_of::<c_int>() as u32) as usize;
            let message = libc::CMSG_FIRSTHDR(&header);
            (*message).cmsg_level = libc::SOL_SOCKET;
            (*message).cmsg_type = libc::SCM_RIGHTS;
            (*message).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as usize;
            libc::CMSG_DATA(message).cast::<c_int>().write_unaligned(fd);
        }
        check(libc::sendmsg(socket, &header, libc::MSG_NOSIGNAL) as i64)?;
    }
    Ok(())
}
