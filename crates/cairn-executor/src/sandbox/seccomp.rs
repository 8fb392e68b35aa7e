//! The system call filter as a BPF program.
//!
//! Calls on the lists of [`policy`] are handed to the keeper, which answers them; all others pass. Handing over
//! rather than failing in the filter is what lets a report name the call.

use super::policy;
use libc::{c_long, sock_filter};

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const JUMP_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
#[cfg(target_arch = "x86_64")]
const JUMP_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

// Offsets in `struct seccomp_data`; the low half of a 64-bit argument comes first on the machines we know.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
pub(crate) const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(crate) const NATIVE: u32 = 0xc000_00b7;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// The flag of `userfaultfd` that leaves faults of the kernel alone.
const UFFD_USER_MODE_ONLY: u32 = 1;

/// Calls that are made all the time and on no list: decided first, because a target may stack a filter of its own on this
/// one, and then the kernel runs both for every call.
const OFTEN: &[c_long] = &[
    libc::SYS_rt_sigaction,
    libc::SYS_read,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_write,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_fstat,
    libc::SYS_ftruncate,
    libc::SYS_dup3,
    libc::SYS_fchdir,
    libc::SYS_close_range,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_msync,
    libc::SYS_fcntl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
];

/// What the filter depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterConfig {
    /// Where the path of our own exec lies; no program passes this address by accident. The keeper's own signals
    /// carry it too.
    pub launch_address: usize,
    /// Whether the target may execute programs.
    pub allow_exec: bool,
    /// Whether a mount namespace makes the outside read-only and a pid namespace bounds signals.
    pub has_namespaces: bool,
    /// The Landlock version, 0 for none; from 3 on it stops truncation.
    pub landlock_abi: u32,
}

/// When a listed call is meant.
#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    /// The low half of the argument, masked, equals the value.
    Masked {
        argument: u32,
        mask: u32,
        value: u32,
    },
    /// The low half of the argument, masked, is not zero.
    AnyOf {
        argument: u32,
        mask: u32,
    },
    /// The argument equals the value.
    Is {
        argument: u32,
        value: u64,
    },
    /// The argument differs from the value.
    Not {
        argument: u32,
        value: u64,
    },
}

/// The filter program.
pub(crate) fn filter(config: &FilterConfig) -> Vec<sock_filter> {
    let mut program = Program(Vec::new());
    program.begin();
    program.push(LOAD, 0, 0, NUMBER);
    for number in OFTEN {
        program.push(JUMP_EQUAL, 0, 1, *number as u32);
        program.push(RETURN, 0, 0, ALLOW);
    }
    for (number, _) in policy::ENDING.iter().chain(policy::REFUSED) {
        program.rule(*number, When::Always, ASK);
    }
    // Its flags lie in memory and cannot be checked; programs fall back to `clone`.
    program.rule(libc::SYS_clone3, When::Always, ABSENT);
    let namespaces = (libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP) as u32;
    program.rule(libc::SYS_clone, When::AnyOf { argument: 0, mask: namespaces }, ASK);
    // A session's runner learns from it which pages a run wrote. Handling faults of the kernel stays refused.
    program.rule(
        libc::SYS_userfaultfd,
        When::Masked { argument: 0, mask: UFFD_USER_MODE_ONLY, value: 0 },
        ASK,
    );
    if !config.allow_exec {
        let value = config.launch_address as u64;
        program.rule(libc::SYS_execve, When::Not { argument: 0, value }, ASK);
        program.rule(libc::SYS_execveat, When::Not { argument: 1, value }, ASK);
    }
    let token = When::Is { argument: 4, value: config.launch_address as u64 };
    program.rule(libc::SYS_kill, token, ALLOW);
    for (number, _) in policy::PROCESSES {
        let argument = u32::from(matches!(*number, libc::SYS_setpriority | libc::SYS_ioprio_set));
        program.rule(*number, When::AnyOf { argument, mask: u32::MAX }, ASK);
    }
    // Here 0 is the caller's user, who may own the keeper and more.
    for (number, user) in
        [(libc::SYS_setpriority, policy::PRIO_USER), (libc::SYS_ioprio_set, policy::IOPRIO_WHO_USER)]
    {
        program.rule(number, When::Masked { argument: 0, mask: u32::MAX, value: user as u32 }, ASK);
    }
    for (number, _) in policy::SIGNALS {
        // The keeper notes it: the kernel sends the same signal for a file that is too large.
        let argument = policy::signal_argument(*number) as u32;
        program.rule(*number, When::Masked { argument, mask: u32::MAX, value: libc::SIGXFSZ as u32 }, ASK);
        let to = |pid: i32| When::Masked { argument: 0, mask: u32::MAX, value: pid as u32 };
        if config.has_namespaces {
            // Only the keeper, process 1, is outside.
            program.rule(*number, to(1), ASK);
            program.rule(*number, to(-1), ASK);
        } else {
            // 0 means the own group, which is the run's.
            program.rule(*number, to(0), ALLOW);
            program.rule(*number, When::Always, ASK);
        }
    }
    if !config.has_namespaces {
        without_namespaces(&mut program, config);
    }
    program.push(RETURN, 0, 0, ALLOW);
    program.0
}

fn without_namespaces(program: &mut Program, config: &FilterConfig) {
    // The keeper opens closed folders before it removes them.
    let token = When::Is { argument: 4, value: config.launch_address as u64 };
    program.rule(libc::SYS_fchmodat, token, ALLOW);
    for (number, _) in policy::METADATA.iter().chain(policy::METADATA_OLD) {
        program.rule(*number, When::Always, ASK);
    }
    // Inode flags (chattr).
    for request in [0x4008_6602u32, 0x4004_6602, 0x401c_5820] {
        let when = When::Masked { argument: 1, mask: u32::MAX, value: request };
        program.rule(libc::SYS_ioctl, when, ASK);
    }
    if config.landlock_abi < 3 {
        program.rule(libc::SYS_truncate, When::Always, ASK);
        // Opening for writing is Landlock's; opening for reading also truncates if asked.
        let mask = (libc::O_TRUNC | libc::O_ACCMODE) as u32;
        let value = (libc::O_TRUNC | libc::O_RDONLY) as u32;
        program.rule(libc::SYS_openat, When::Masked { argument: 2, mask, value }, ASK);
        #[cfg(target_arch = "x86_64")]
        program.rule(libc::SYS_open, When::Masked { argument: 1, mask, value }, ASK);
        // Its flags lie in memory.
        program.rule(libc::SYS_openat2, When::Always, ABSENT);
    }
}

struct Program(Vec<sock_filter>);

impl Program {
    fn push(&mut self, code: u16, jt: u8, jf: u8, k: u32) {
        self.0.push(sock_filter { code, jt, jf, k });
    }

    /// Calls in another machine language have other numbers: nothing we test makes them, and the keeper ends a run
    /// that does.
    fn begin(&mut self) {
        self.push(LOAD, 0, 0, ARCHITECTURE);
        self.push(JUMP_EQUAL, 1, 0, NATIVE);
        self.push(RETURN, 0, 0, ASK);
        #[cfg(target_arch = "x86_64")]
        {
            // The x32 calls, which are the same calls under other numbers.
            self.push(LOAD, 0, 0, NUMBER);
            self.push(JUMP_AT_LEAST, 0, 1, 0x4000_0000);
            self.push(RETURN, 0, 0, ABSENT);
        }
    }

    /// ```text
    ///   if number == NUMBER and WHEN: return ACTION
    /// ```
    fn rule(&mut self, number: c_long, when: When, action: u32) {
        let argument = |index: u32| ARGUMENTS + 8 * index;
        self.push(LOAD, 0, 0, NUMBER);
        match when {
            When::Always => self.push(JUMP_EQUAL, 0, 1, number as u32),
            When::Masked { argument: index, mask, value } => {
                self.push(JUMP_EQUAL, 0, 4, number as u32);
                self.push(LOAD, 0, 0, argument(index));
                self.push(AND, 0, 0, mask);
                self.push(JUMP_EQUAL, 0, 1, value);
            }
            When::AnyOf { argument: index, mask } => {
                self.push(JUMP_EQUAL, 0, 4, number as u32);
                self.push(LOAD, 0, 0, argument(index));
                self.push(AND, 0, 0, mask);
                self.push(JUMP_EQUAL, 1, 0, 0);
            }
            When::Is { argument: index, value } => {
                self.push(JUMP_EQUAL, 0, 5, number as u32);
                self.push(LOAD, 0, 0, argument(index));
                self.push(JUMP_EQUAL, 0, 3, value as u32);
                self.push(LOAD, 0, 0, argument(index) + 4);
                self.push(JUMP_EQUAL, 0, 1, (value >> 32) as u32);
            }
            When::Not { argument: index, value } => {
                self.push(JUMP_EQUAL, 0, 5, number as u32);
                self.push(LOAD, 0, 0, argument(index));
                self.push(JUMP_EQUAL, 0, 2, value as u32);
                self.push(LOAD, 0, 0, argument(index) + 4);
                self.push(JUMP_EQUAL, 1, 0, (value >> 32) as u32);
            }
        }
        self.push(RETURN, 0, 0, action);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `program` returns for a call, computed as the kernel would.
    fn evaluate(program: &[sock_filter], number: c_long, arguments: &[u64]) -> u32 {
        let mut data = [0u8; 64];
        data[..4].copy_from_slice(&(number as u32).to_le_bytes());
        data[4..8].copy_from_slice(&NATIVE.to_le_bytes());
        for (index, argument) in arguments.iter().enumerate() {
            data[16 + 8 * index..][..8].copy_from_slice(&argument.to_le_bytes());
        }
        let (mut at, mut accumulator) = (0, 0u32);
        loop {
            let step = &program[at];
            at += 1;
            match step.code {
                LOAD => accumulator = u32::from_le_bytes(data[step.k as usize..][..4].try_into().unwrap()),
                AND => accumulator &= step.k,
                JUMP_EQUAL => at += usize::from(if accumulator == step.k { step.jt } else { step.jf }),
                JUMP_AT_LEAST => at += usize::from(if accumulator >= step.k { step.jt } else { step.jf }),
                _ => return step.k,
            }
        }
    }

    fn config(has_namespaces: bool, landlock_abi: u32) -> FilterConfig {
        FilterConfig { launch_address: 0x7f12_3456_7000, allow_exec: false, has_namespaces, landlock_abi }
    }

    #[test]
    fn nothing_on_a_list_is_decided_early() {
        for (has_namespaces, landlock_abi) in [(true, 7), (false, 7), (false, 2)] {
            let program = filter(&config(has_namespaces, landlock_abi));
            let is_asked = |number: c_long| {
                [0, 1, u64::MAX].iter().any(|argument| evaluate(&program, number, &[*argument; 6]) != ALLOW)
            };
            let listed = [
                policy::ENDING,
                policy::REFUSED,
                policy::PROCESSES,
                policy::SIGNALS,
                policy::METADATA,
                policy::METADATA_OLD,
            ];
            for (number, name) in listed.into_iter().flatten() {
                assert!(!OFTEN.contains(number), "{name}");
            }
            assert!(is_asked(libc::SYS_ptrace) && !OFTEN.iter().any(|number| is_asked(*number)));
        }
    }

    #[test]
    fn only_our_own_exec_passes() {
        let program = filter(&config(true, 7));
        let execve = |address| evaluate(&program, libc::SYS_execve, &[address]);
        assert_eq!(execve(0x7f12_3456_7000), ALLOW);
        assert_eq!(execve(0x7f12_3456_7001), ASK);
        assert_eq!(execve(0x7f13_3456_7000), ASK);
        assert_eq!(evaluate(&program, libc::SYS_execveat, &[3, 0x7f12_3456_7000]), ALLOW);
        assert_eq!(evaluate(&program, libc::SYS_execveat, &[3, 4]), ASK);
    }

    #[test]
    fn signals_within_the_run_pass() {
        let inside = filter(&config(true, 7));
        assert_eq!(evaluate(&inside, libc::SYS_kill, &[2, 9]), ALLOW);
        assert_eq!(evaluate(&inside, libc::SYS_kill, &[1, 9]), ASK);
        assert_eq!(evaluate(&inside, libc::SYS_kill, &[-1i64 as u64, 9]), ASK);
        let outside = filter(&config(false, 7));
        assert_eq!(evaluate(&outside, libc::SYS_kill, &[0, 9]), ALLOW);
        assert_eq!(evaluate(&outside, libc::SYS_kill, &[2, 9]), ASK);
        assert_eq!(evaluate(&outside, libc::SYS_kill, &[2, 9, 0, 0, 0x7f12_3456_7000]), ALLOW);
    }

    #[test]
    fn the_own_process_may_be_changed_and_others_are_asked_about() {
        for has_namespaces in [true, false] {
            let program = filter(&config(has_namespaces, 7));
            assert_eq!(evaluate(&program, libc::SYS_prlimit64, &[0, 7]), ALLOW);
            assert_eq!(evaluate(&program, libc::SYS_prlimit64, &[1, 7]), ASK);
            assert_eq!(evaluate(&program, libc::SYS_setpriority, &[0, 0, 5]), ALLOW);
            assert_eq!(evaluate(&program, libc::SYS_setpriority, &[0, 1, 5]), ASK);
            assert_eq!(evaluate(&program, libc::SYS_setpriority, &[2, 0, 5]), ASK);
            assert_eq!(evaluate(&program, libc::SYS_ioprio_set, &[3, 0, 5]), ASK);
        }
    }

    #[test]
    fn metadata_is_free_only_where_the_outside_is_read_only() {
        assert_eq!(evaluate(&filter(&config(true, 7)), libc::SYS_fchmodat, &[]), ALLOW);
        assert_eq!(evaluate(&filter(&config(false, 7)), libc::SYS_fchmodat, &[]), ASK);
    }

    #[test]
    fn truncation_is_refused_where_landlock_does_not_know_it() {
        let truncating = [0, 0, (libc::O_TRUNC | libc::O_RDONLY) as u64];
        let old = filter(&config(false, 2));
        assert_eq!(evaluate(&old, libc::SYS_truncate, &[]), ASK);
        assert_eq!(evaluate(&old, libc::SYS_openat, &truncating), ASK);
        assert_eq!(evaluate(&old, libc::SYS_openat, &[0, 0, (libc::O_TRUNC | libc::O_WRONLY) as u64]), ALLOW);
        assert_eq!(evaluate(&filter(&config(false, 3)), libc::SYS_openat, &truncating), ALLOW);
    }

    #[test]
    fn what_a_session_needs_passes() {
        let program = filter(&config(true, 7));
        assert_eq!(evaluate(&program, libc::SYS_seccomp, &[1]), ALLOW);
        assert_eq!(evaluate(&program, libc::SYS_prctl, &[1]), ALLOW);
        let flags = (libc::O_CLOEXEC | libc::O_NONBLOCK) as u64;
        assert_eq!(evaluate(&program, libc::SYS_userfaultfd, &[flags | 1]), ALLOW);
        assert_eq!(evaluate(&program, libc::SYS_userfaultfd, &[flags]), ASK);
    }

    #[test]
    fn threads_start_and_namespaces_do_not() {
        let program = filter(&config(true, 7));
        assert_eq!(evaluate(&program, libc::SYS_clone, &[libc::CLONE_VM as u64]), ALLOW);
        assert_eq!(evaluate(&program, libc::SYS_clone, &[libc::CLONE_NEWUSER as u64]), ASK);
        assert_eq!(evaluate(&program, libc::SYS_clone3, &[]), ABSENT);
        assert_eq!(evaluate(&program, libc::SYS_read, &[]), ALLOW);
    }
}
