//! The system calls a runner lets the program make.
//!
//! A call whose effects are undone by [`super::snapshot`], or that has none, passes. All others are stopped and go to
//! [`super::trap`]: some are carried out there and noted, the others mean that the run needs a process of its own.
//! The runtime's own calls pass, known by the address they are made from.

use super::snapshot::signals::N_SIGNALS;
use crate::system;
use cairn_abi::{
    channel::CHANNEL_FD,
    session::{RunnerMode, descriptors::END},
};
use libc::{c_long, sock_filter};

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const JUMP_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const JUMP_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const JUMP_IF_SET: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const KEEP: u16 = (libc::BPF_MISC | libc::BPF_TAX) as u16;
const LOAD_CONSTANT: u16 = (libc::BPF_LD | libc::BPF_IMM) as u16;
const SHIFT_BY_KEPT: u16 = (libc::BPF_ALU | libc::BPF_RSH | libc::BPF_X) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ADDRESS: u32 = 8;
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

const NATIVE: u32 = 0xc000_003e;
/// From here on calls are those of the x32 interface.
const X32: u32 = 0x4000_0000;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const STOP: u32 = libc::SECCOMP_RET_TRAP;
const PRETEND: u32 = libc::SECCOMP_RET_ERRNO;

/// What passes when its first argument is none of our descriptors.
const WITH_DESCRIPTOR: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_ftruncate,
    libc::SYS_dup,
    libc::SYS_sync_file_range,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
];

/// Calls of the runtime that the program may not make without being noticed, those of every run first.
const OWN_OFTEN: &[c_long] = &[libc::SYS_close_range, libc::SYS_munmap];
const OWN: &[c_long] = &[
    libc::SYS_gettid,
    libc::SYS_exit_group,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_utimensat,
    libc::SYS_poll,
    libc::SYS_msync,
    libc::SYS_umask,
    libc::SYS_fchdir,
    libc::SYS_mremap,
    libc::SYS_mprotect,
];

/// What always passes. Descriptors are restored; files of the scratch folder
/// are watched by the host.
const FREE: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_creat,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigpending,
    libc::SYS_sigaltstack,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getdents64,
    libc::SYS_getdents,
    libc::SYS_getcwd,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_mknod,
    libc::SYS_mknodat,
    libc::SYS_chmod,
    libc::SYS_fchmodat,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchownat,
    libc::SYS_truncate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    libc::SYS_pipe,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_time,
    libc::SYS_gettimeofday,
    libc::SYS_clock_getres,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getpriority,
    libc::SYS_restart_syscall,
];

/// What `fcntl` may be asked: copies of descriptors, and flags that vanish with a descriptor.
const FCNTL: &[i32] =
    &[libc::F_DUPFD, libc::F_DUPFD_CLOEXEC, libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_GETLK];

/// Clocks that all processes share.
const CLOCKS: &[i32] = &[
    libc::CLOCK_REALTIME,
    libc::CLOCK_MONOTONIC,
    libc::CLOCK_MONOTONIC_RAW,
    libc::CLOCK_REALTIME_COARSE,
    libc::CLOCK_MONOTONIC_COARSE,
    libc::CLOCK_BOOTTIME,
    libc::CLOCK_TAI,
];

/// What `ioctl` may be asked: questions about terminals and sizes.
const IOCTL: &[u32] = &[0x5401, 0x5413, 0x541b];

/// Binds this process. The handling of `signals`, one bit each, may be changed freely, that of those that are `caught` not even
/// be asked for. False when the kernel refuses.
pub fn install(mode: RunnerMode, signals: u32, caught: u32) -> bool {
    let mut program = Program { steps: [EMPTY; MAX_STEPS], length: 0 };
    match mode {
        RunnerMode::Persistent => program.only_exit(),
        RunnerMode::Snapshot => program.restorable(signals, caught),
    }
    if program.length > MAX_STEPS {
        return false;
    }
    let description =
        libc::sock_fprog { len: program.length as u16, filter: program.steps.as_ptr().cast_mut() };
    let place = (&raw const description).expose_provenance();
    // SAFETY: the kernel reads the program and copies it.
    unsafe {
        system::call(libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0, 0]);
        let mode = libc::SECCOMP_SET_MODE_FILTER as usize;
        system::call(libc::SYS_seccomp, [mode, 0, place, 0, 0, 0]) == 0
    }
}

const MAX_STEPS: usize = 1024;
const EMPTY: sock_filter = sock_filter { code: 0, jt: 0, jf: 0, k: 0 };

struct Program {
    steps: [sock_filter; MAX_STEPS],
    length: usize,
}

impl Program {
    fn push(&mut self, code: u16, jt: u8, jf: u8, k: u32) {
        if let Some(step) = self.steps.get_mut(self.length) {
            *step = sock_filter { code, jt, jf, k };
        }
        self.length += 1;
    }

    fn only_exit(&mut self) {
        self.push(LOAD, 0, 0, NUMBER);
        self.push(JUMP_EQUAL, 1, 0, libc::SYS_exit_group as u32);
        self.push(RETURN, 0, 0, ALLOW);
        self.allow_own();
        self.push(RETURN, 0, 0, STOP);
    }

    fn restorable(&mut self, signals: u32, caught: u32) {
        self.push(LOAD, 0, 0, ARCHITECTURE);
        self.push(JUMP_EQUAL, 1, 0, NATIVE);
        self.push(RETURN, 0, 0, STOP);
        self.push(LOAD, 0, 0, NUMBER);
        self.push(JUMP_AT_LEAST, 0, 1, X32);
        self.push(RETURN, 0, 0, STOP);
        // The kernel remembers the answer for calls that are decided by their number alone and does not run the filter for
        // them again, so the others come first, in the order of how often they are made.
        // Questions, and signals that are restored in any case; of the others the trap takes note.
        // The runner's own are neither changed nor shown.
        self.when(libc::SYS_rt_sigaction, |program| {
            program.push(LOAD, 0, 0, argument(0));
            program.push(JUMP_AT_LEAST, 14, 0, N_SIGNALS as u32);
            program.push(JUMP_EQUAL, 13, 0, libc::SIGSYS as u32);
            program.push(KEEP, 0, 0, 0);
            program.push(LOAD_CONSTANT, 0, 0, caught);
            program.push(SHIFT_BY_KEPT, 0, 0, 0);
            program.push(JUMP_IF_SET, 9, 0, 1);
            program.push(LOAD, 0, 0, argument(1));
            program.push(JUMP_EQUAL, 0, 3, 0);
            program.push(LOAD, 0, 0, argument(1) + 4);
            program.push(JUMP_EQUAL, 0, 1, 0);
            program.push(RETURN, 0, 0, ALLOW);
            program.push(LOAD_CONSTANT, 0, 0, signals);
            program.push(SHIFT_BY_KEPT, 0, 0, 0);
            program.push(JUMP_IF_SET, 0, 1, 1);
            program.push(RETURN, 0, 0, ALLOW);
        });
        for number in OWN_OFTEN {
            self.when(*number, |_| ());
        }
        for number in WITH_DESCRIPTOR {
            self.when(*number, |program| {
                program.push(LOAD, 0, 0, argument(0));
                program.unless_protected(ALLOW);
            });
        }
        // On the standard streams the change would stay.
        for number in [libc::SYS_fchmod, libc::SYS_fchown, libc::SYS_flock, libc::SYS_fallocate] {
            self.when(number, |program| {
                program.push(LOAD, 0, 0, argument(0));
                program.push(JUMP_AT_LEAST, 0, 3, 3);
                program.unless_protected(ALLOW);
            });
        }
        self.when(libc::SYS_close, |program| {
            program.push(LOAD, 0, 0, argument(0));
            program.unless_protected(ALLOW);
            program.allow_own();
            // In a fresh process the channel can be closed, and the others are not open.
            program.push(LOAD, 0, 0, argument(0));
            program.push(JUMP_EQUAL, 0, 1, CHANNEL_FD as u32);
            program.push(RETURN, 0, 0, PRETEND);
            program.push(RETURN, 0, 0, PRETEND | libc::EBADF as u32);
        });
        for number in [libc::SYS_dup2, libc::SYS_dup3] {
            self.when(number, |program| {
                program.push(LOAD, 0, 0, argument(0));
                program.when_protected_skip(4);
                program.push(LOAD, 0, 0, argument(1));
                program.unless_protected(ALLOW);
            });
        }
        self.when(libc::SYS_fcntl, |program| {
            program.push(LOAD, 0, 0, argument(0));
            // In a fresh process ours but for the channel are not open; some programs ask about every number.
            program.push(JUMP_AT_LEAST, 0, 7, CHANNEL_FD as u32 + 1);
            program.push(JUMP_AT_LEAST, 6, 0, END as u32);
            program.allow_own();
            program.push(RETURN, 0, 0, PRETEND | libc::EBADF as u32);
            program.push(LOAD, 0, 0, argument(1));
            for command in FCNTL {
                program.push(JUMP_EQUAL, 0, 1, *command as u32);
                program.push(RETURN, 0, 0, ALLOW);
            }
        });
        self.when(libc::SYS_ioctl, |program| {
            program.push(LOAD, 0, 0, argument(1));
            for request in IOCTL {
                program.push(JUMP_EQUAL, 0, 1, *request);
                program.push(RETURN, 0, 0, ALLOW);
            }
        });
        // Not those of the process itself, which count all runs.
        self.when(libc::SYS_clock_gettime, |program| {
            program.push(LOAD, 0, 0, argument(0));
            for clock in CLOCKS {
                program.push(JUMP_EQUAL, 0, 1, *clock as u32);
                program.push(RETURN, 0, 0, ALLOW);
            }
        });
        // Advice without lasting effect; the trap looks at the other.
        self.when(libc::SYS_madvise, |program| {
            program.push(LOAD, 0, 0, argument(2));
            program.push(JUMP_AT_LEAST, 1, 0, libc::MADV_DONTNEED as u32);
            program.push(RETURN, 0, 0, ALLOW);
        });
        // Waiting without end, for which there is nobody to end it, is for the trap.
        self.when(libc::SYS_futex, |program| {
            program.push(LOAD, 0, 0, argument(3));
            program.push(JUMP_EQUAL, 0, 2, 0);
            program.push(LOAD, 0, 0, argument(3) + 4);
            program.push(JUMP_EQUAL, 1, 0, 0);
            program.push(RETURN, 0, 0, ALLOW);
            program.push(LOAD, 0, 0, argument(1));
            program.push(AND, 0, 0, !((libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) as u32));
            program.push(JUMP_EQUAL, 2, 0, libc::FUTEX_WAIT as u32);
            program.push(JUMP_EQUAL, 1, 0, libc::FUTEX_WAIT_BITSET as u32);
            program.push(RETURN, 0, 0, ALLOW);
        });
        // Limits may be asked for and not set, the third argument being null; that of address space is another here.
        self.when(libc::SYS_prlimit64, |program| {
            program.push(LOAD, 0, 0, argument(1));
            program.push(JUMP_EQUAL, 5, 0, libc::RLIMIT_AS);
            program.push(LOAD, 0, 0, argument(2));
            program.push(JUMP_EQUAL, 0, 3, 0);
            program.push(LOAD, 0, 0, argument(2) + 4);
            program.push(JUMP_EQUAL, 0, 1, 0);
            program.push(RETURN, 0, 0, ALLOW);
        });
        for number in OWN {
            self.when(*number, |_| ());
        }
        for number in FREE {
            self.push(JUMP_EQUAL, 0, 1, *number as u32);
            self.push(RETURN, 0, 0, ALLOW);
        }
        self.allow_own();
        self.push(RETURN, 0, 0, STOP);
    }

    /// ```text
    ///   if number == NUMBER { RULES }     what falls out of them is decided by `allow_own` and stopped
    /// ```
    fn when(&mut self, number: c_long, rules: impl FnOnce(&mut Self)) {
        self.push(JUMP_EQUAL, 1, 0, number as u32);
        let skip = self.length;
        self.push(JUMP, 0, 0, 0);
        rules(self);
        self.allow_own();
        self.push(RETURN, 0, 0, STOP);
        let length = self.length;
        if let Some(step) = self.steps.get_mut(skip) {
            step.k = (length - skip - 1) as u32;
        }
        // The next comparison needs the number again; it is loaded only on the way round.
        self.push(LOAD, 0, 0, NUMBER);
    }

    /// Returns `action` unless the loaded number is one of our descriptors.
    fn unless_protected(&mut self, action: u32) {
        self.push(JUMP_AT_LEAST, 0, 1, CHANNEL_FD as u32);
        self.push(JUMP_AT_LEAST, 0, 1, END as u32);
        self.push(RETURN, 0, 0, action);
    }

    /// Skips the next `n` steps if the loaded number is one of our descriptors.
    fn when_protected_skip(&mut self, n: u8) {
        self.push(JUMP_AT_LEAST, 0, 1, CHANNEL_FD as u32);
        self.push(JUMP_AT_LEAST, 0, n, END as u32);
    }

    /// Lets the runtime's own calls pass.
    fn allow_own(&mut self) {
        let own = system::own_call_address();
        self.push(LOAD, 0, 0, ADDRESS);
        self.push(JUMP_EQUAL, 0, 3, own as u32);
        self.push(LOAD, 0, 0, ADDRESS + 4);
        self.push(JUMP_EQUAL, 0, 1, (own >> 32) as u32);
        self.push(RETURN, 0, 0, ALLOW);
    }
}
