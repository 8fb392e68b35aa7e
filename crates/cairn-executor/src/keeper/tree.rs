//! Inside the keeper: the processes of a run.

use super::raw::{self, ProcPath, check};
use libc::{c_int, pid_t};

/// How long processes may take to die before the keeper gives up.
const PATIENCE_NS: u64 = 5_000_000_000;

/// How to get at the processes of a run.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    /// Whether the keeper is the first process of its pid namespace.
    pub is_first_process: bool,
    /// The main process, which leads its session and group.
    pub main: pid_t,
    /// Lets the keeper's own signals through the filter.
    pub token: usize,
}

/// Kills and reaps every process of the run. `on_reaped` sees each one. Returns whether all are gone.
pub(super) fn end_all(tree: Tree, mut on_reaped: impl FnMut(pid_t, c_int, &libc::rusage)) -> bool {
    let deadline = raw::now_ns() + PATIENCE_NS;
    loop {
        if tree.is_first_process {
            // Everything in the pid namespace except this process.
            kill(-1, tree.token);
        } else {
            kill_children(tree);
        }
        loop {
            let mut status = 0;
            // SAFETY: zero is a valid rusage, and both are valid for writing.
            let reaped = unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                let flags = libc::WNOHANG | libc::__WALL;
                let reaped = check(libc::wait4(-1, &mut status, flags, &mut usage));
                if let Ok(pid @ 1..) = reaped {
                    on_reaped(pid as pid_t, status, &usage);
                }
                reaped
            };
            match reaped {
                Err(libc::EINTR) | Ok(1..) => {}
                Err(_) => return true,
                Ok(_) => break,
            }
        }
        if raw::now_ns() > deadline {
            return false;
        }
        let pause = libc::timespec { tv_sec: 0, tv_nsec: 200_000 };
        // SAFETY: `pause` is valid for reading.
        unsafe { libc::nanosleep(&pause, std::ptr::null_mut()) };
    }
}

/// Kills the direct children; their own children become ours when they die, and are met in the next round.
fn kill_children(tree: Tree) {
    kill(-tree.main, tree.token);
    // SAFETY: always succeeds.
    let own = unsafe { libc::getpid() };
    let path = ProcPath::new().number(own).text(b"/task/").number(own).text(b"/children");
    let mut buffer = [0u8; 4096];
    let Ok(text) = raw::read_file(path.as_ptr(), &mut buffer) else { return };
    let mut pid: pid_t = 0;
    for byte in text {
        match byte {
            b'0'..=b'9' => pid = pid.wrapping_mul(10).wrapping_add(pid_t::from(byte - b'0')),
            _ if pid > 1 => {
                // An unreaped child's id cannot have been given to another process.
                kill(pid, tree.token);
                pid = 0;
            }
            _ => pid = 0,
        }
    }
}

/// Kills a process, or a group of them. Returns whether there was one, be it dead and not reaped.
pub(super) fn kill(pid: pid_t, token: usize) -> bool {
    send(pid, libc::SIGKILL, token)
}

/// Sends a signal to a process, or a group of them. Returns whether there was one, be it dead and not reaped.
pub(super) fn send(pid: pid_t, signal: c_int, token: usize) -> bool {
    // The kernel looks at two arguments, the filter at the fifth.
    let sent = raw::syscall(libc::SYS_kill, [pid as usize, signal as usize, 0, 0, token]);
    sent != Err(libc::ESRCH)
}

/// Whether a child has ended, which leaves it to be reaped.
pub(super) fn has_ended(pid: pid_t) -> bool {
    // SAFETY: zero is a valid record, which the kernel fills if the child has ended.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, flags) == 0 && info.si_pid() != 0
    }
}

/// Whether `pid` is a process (or thread) of the run.
pub(super) fn is_descendant(pid: pid_t) -> bool {
    // SAFETY: always succeeds.
    let own = unsafe { libc::getpid() };
    let mut current = pid;
    // Deeper nesting than this cannot exist within the limit on processes.
    for _ in 0..4096 {
        match parent_of(current) {
            Some(parent) if parent == own => return true,
            Some(parent) if parent > 1 => current = parent,
            _ => return false,
        }
    }
    false
}

/// Bytes of memory that `pid` holds now; 0 if that cannot be seen.
pub(super) fn resident(pid: pid_t) -> u64 {
    let mut buffer = [0u8; 128];
    let path = ProcPath::of_main_thread(pid).text(b"/statm");
    let Ok(text) = raw::read_file(path.as_ptr(), &mut buffer) else { return 0 };
    let digits = text.split(|byte| *byte == b' ').nth(1).unwrap_or(&[]);
    let pages = digits
        .iter()
        .fold(0u64, |number, byte| number.wrapping_mul(10).wrapping_add(u64::from(byte.wrapping_sub(b'0'))));
    // SAFETY: only asks for a number.
    pages.saturating_mul(unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64)
}

/// Whether `pid` was stopped by a signal.
pub(super) fn is_stopped(pid: pid_t) -> bool {
    let mut buffer = [0u8; 512];
    after_name(pid, &mut buffer).and_then(<[u8]>::first) == Some(&b'T')
}

/// What `/proc` says of a process after its name: "S 123 …", the state and the parent first.
fn after_name(pid: pid_t, buffer: &mut [u8; 512]) -> Option<&[u8]> {
    let text = raw::read_file(ProcPath::of_main_thread(pid).text(b"/stat").as_ptr(), buffer).ok()?;
    // The name in parentheses may hold anything; the last `)` ends it.
    let name_end = text.iter().rposition(|byte| *byte == b')')?;
    text.get(name_end + 2..)
}

fn parent_of(pid: pid_t) -> Option<pid_t> {
    if pid <= 1 {
        return None;
    }
    let mut buffer = [0u8; 512];
    let digits = after_name(pid, &mut buffer)?.get(2..)?.split(|byte| *byte == b' ').next()?;
    digits.iter().try_fold(0 as pid_t, |number, byte| match byte {
        b'0'..=b'9' => Some(number.wrapping_mul(10).wrapping_add(pid_t::from(byte - b'0'))),
        _ => None,
    })
}
