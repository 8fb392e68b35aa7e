//! Which system calls a target may not make, and what happens when it does.
//!
//! *Refused* calls fail with `EPERM`, the run goes on, and the call is noted: ordinary programs try sockets or
//! another program and cope. *Ending* calls are made by no ordinary program under test, or their failure is
//! never handled; the run ends as `Forbidden`, which is the clearer answer.

use libc::{c_long, pid_t};

/// Stands for every call in another machine language, whose numbers mean something else.
pub(crate) const OTHER_ARCHITECTURE: u32 = u32::MAX;

/// What the keeper answers to a call that the filter handed to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It goes ahead.
    Allow,
    /// It fails with `EPERM`.
    Refuse,
    /// The run ends.
    End,
    /// Signals: it depends on whom they are for.
    DependsOnReceiver,
    /// Changes to a process: it depends on which.
    DependsOnProcess,
}

/// The answer to call `number`. Looked up by the keeper, so nothing here allocates.
pub(crate) fn answer(number: c_long) -> Answer {
    let holds = |calls: &[(c_long, &str)]| calls.iter().any(|(listed, _)| *listed == number);
    if holds(ENDING) {
        Answer::End
    } else if holds(SIGNALS) {
        Answer::DependsOnReceiver
    } else if holds(PROCESSES) {
        Answer::DependsOnProcess
    } else {
        Answer::Refuse
    }
}

/// Which argument of a call in [`SIGNALS`] is the signal.
pub(crate) fn signal_argument(number: c_long) -> usize {
    match number {
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => 2,
        _ => 1,
    }
}

/// Which process or group a call in [`PROCESSES`] means; 0 for the caller's, `None` for all of a user.
pub(crate) fn process_meant(number: c_long, arguments: [u64; 6]) -> Option<pid_t> {
    let [first, second, ..] = arguments.map(|argument| argument as pid_t);
    match number {
        libc::SYS_setpriority => (first != PRIO_USER).then_some(second),
        libc::SYS_ioprio_set => (first != IOPRIO_WHO_USER).then_some(second),
        _ => Some(first),
    }
}

/// Says that `setpriority` means all processes of a user.
pub(crate) const PRIO_USER: pid_t = 2;

/// Says that `ioprio_set` means all processes of a user.
pub(crate) const IOPRIO_WHO_USER: pid_t = 3;

/// The name of call `number`.
pub(crate) fn name(number: u32) -> String {
    if number == OTHER_ARCHITECTURE {
        return "a system call of another architecture".into();
    }
    [
        ENDING,
        SIGNALS,
        PROCESSES,
        EXEC,
        REFUSED,
        METADATA,
        METADATA_OLD,
        CONDITIONAL,
        CONDITIONAL_OLD,
        FREE,
        FREE_OLD,
    ]
    .iter()
    .flat_map(|calls| calls.iter())
    .find(|(listed, _)| *listed == c_long::from(number))
    .map_or_else(|| format!("system call {number}"), |(_, name)| (*name).to_string())
}

macro_rules! calls {
    ($($name:literal = $number:expr,)*) => { &[$(($number as c_long, $name),)*] };
}

/// Calls that end the run.
pub(crate) const ENDING: &[(c_long, &str)] = calls! {
    "ptrace" = libc::SYS_ptrace,
    "process_vm_readv" = libc::SYS_process_vm_readv,
    "process_vm_writev" = libc::SYS_process_vm_writev,
    "pidfd_getfd" = libc::SYS_pidfd_getfd,
    "kcmp" = libc::SYS_kcmp,
    "bpf" = libc::SYS_bpf,
    "io_uring_setup" = libc::SYS_io_uring_setup,
    "io_uring_enter" = libc::SYS_io_uring_enter,
    "io_uring_register" = libc::SYS_io_uring_register,
    "mount" = libc::SYS_mount,
    "umount2" = libc::SYS_umount2,
    "pivot_root" = libc::SYS_pivot_root,
    "open_tree" = libc::SYS_open_tree,
    "move_mount" = libc::SYS_move_mount,
    "fsopen" = libc::SYS_fsopen,
    "fsconfig" = libc::SYS_fsconfig,
    "fsmount" = libc::SYS_fsmount,
    "fspick" = libc::SYS_fspick,
    "mount_setattr" = libc::SYS_mount_setattr,
    "open_tree_attr" = 467,
    "setns" = libc::SYS_setns,
    "init_module" = libc::SYS_init_module,
    "finit_module" = libc::SYS_finit_module,
    "delete_module" = libc::SYS_delete_module,
    "kexec_load" = libc::SYS_kexec_load,
    "reboot" = libc::SYS_reboot,
    "swapon" = libc::SYS_swapon,
    "swapoff" = libc::SYS_swapoff,
    "add_key" = libc::SYS_add_key,
    "request_key" = libc::SYS_request_key,
    "keyctl" = libc::SYS_keyctl,
};

/// Calls that send a signal to the process in their first argument.
pub(crate) const SIGNALS: &[(c_long, &str)] = calls! {
    "kill" = libc::SYS_kill,
    "tkill" = libc::SYS_tkill,
    "tgkill" = libc::SYS_tgkill,
    "rt_sigqueueinfo" = libc::SYS_rt_sigqueueinfo,
    "rt_tgsigqueueinfo" = libc::SYS_rt_tgsigqueueinfo,
};

/// Calls that change a process given by number: the target's user may be the keeper's, who must not be slowed down,
/// limited or moved to another processor.
pub(crate) const PROCESSES: &[(c_long, &str)] = calls! {
    "sched_setaffinity" = libc::SYS_sched_setaffinity,
    "sched_setscheduler" = libc::SYS_sched_setscheduler,
    "sched_setparam" = libc::SYS_sched_setparam,
    "sched_setattr" = libc::SYS_sched_setattr,
    "setpriority" = libc::SYS_setpriority,
    "ioprio_set" = libc::SYS_ioprio_set,
    "prlimit64" = libc::SYS_prlimit64,
    "migrate_pages" = libc::SYS_migrate_pages,
    "move_pages" = libc::SYS_move_pages,
    "pidfd_open" = libc::SYS_pidfd_open,
};

/// Calls that execute a program, allowed on request.
pub(crate) const EXEC: &[(c_long, &str)] = calls! {
    "execve" = libc::SYS_execve,
    "execveat" = libc::SYS_execveat,
};

/// Calls that are always refused. Memory files are among them because no limit counts what they hold.
pub(crate) const REFUSED: &[(c_long, &str)] = calls! {
    "socket" = libc::SYS_socket,
    "unshare" = libc::SYS_unshare,
    "chroot" = libc::SYS_chroot,
    "shmget" = libc::SYS_shmget,
    "shmat" = libc::SYS_shmat,
    "shmctl" = libc::SYS_shmctl,
    "semget" = libc::SYS_semget,
    "semop" = libc::SYS_semop,
    "semtimedop" = libc::SYS_semtimedop,
    "semctl" = libc::SYS_semctl,
    "msgget" = libc::SYS_msgget,
    "msgsnd" = libc::SYS_msgsnd,
    "msgrcv" = libc::SYS_msgrcv,
    "msgctl" = libc::SYS_msgctl,
    "mq_open" = libc::SYS_mq_open,
    "mq_unlink" = libc::SYS_mq_unlink,
    "perf_event_open" = libc::SYS_perf_event_open,
    "memfd_create" = libc::SYS_memfd_create,
    "memfd_secret" = 447,
    "settimeofday" = libc::SYS_settimeofday,
    "clock_settime" = libc::SYS_clock_settime,
    "adjtimex" = libc::SYS_adjtimex,
    "clock_adjtime" = libc::SYS_clock_adjtime,
    "sethostname" = libc::SYS_sethostname,
    "setdomainname" = libc::SYS_setdomainname,
    "acct" = libc::SYS_acct,
    "quotactl" = libc::SYS_quotactl,
    "quotactl_fd" = 443,
    "syslog" = libc::SYS_syslog,
    "name_to_handle_at" = libc::SYS_name_to_handle_at,
    "open_by_handle_at" = libc::SYS_open_by_handle_at,
    "fanotify_init" = libc::SYS_fanotify_init,
    "vhangup" = libc::SYS_vhangup,
};

/// Changes of metadata, and signals by descriptor: refused where no mount namespace makes the outside read-only,
/// since Landlock lets them through.
pub(crate) const METADATA: &[(c_long, &str)] = calls! {
    "fchmod" = libc::SYS_fchmod,
    "fchmodat" = libc::SYS_fchmodat,
    "fchmodat2" = 452,
    "fchown" = libc::SYS_fchown,
    "fchownat" = libc::SYS_fchownat,
    "utimensat" = libc::SYS_utimensat,
    "setxattr" = libc::SYS_setxattr,
    "lsetxattr" = libc::SYS_lsetxattr,
    "fsetxattr" = libc::SYS_fsetxattr,
    "setxattrat" = 463,
    "removexattr" = libc::SYS_removexattr,
    "lremovexattr" = libc::SYS_lremovexattr,
    "fremovexattr" = libc::SYS_fremovexattr,
    "removexattrat" = 466,
    "file_setattr" = 469,
    "pidfd_send_signal" = libc::SYS_pidfd_send_signal,
};

/// Older spellings of [`METADATA`], on machines that have them.
#[cfg(target_arch = "x86_64")]
pub(crate) const METADATA_OLD: &[(c_long, &str)] = calls! {
    "chmod" = libc::SYS_chmod,
    "chown" = libc::SYS_chown,
    "lchown" = libc::SYS_lchown,
    "utime" = libc::SYS_utime,
    "utimes" = libc::SYS_utimes,
    "futimesat" = libc::SYS_futimesat,
};
/// Older spellings of [`METADATA`], on machines that have them.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const METADATA_OLD: &[(c_long, &str)] = &[];

/// Calls that are refused for some arguments only; the filter says which.
const CONDITIONAL: &[(c_long, &str)] = calls! {
    "clone" = libc::SYS_clone,
    "openat" = libc::SYS_openat,
    "truncate" = libc::SYS_truncate,
    "ioctl" = libc::SYS_ioctl,
    "userfaultfd" = libc::SYS_userfaultfd,
};

/// Calls that are free, but that a session cannot undo: it names them when it gives a run a process of its own.
const FREE: &[(c_long, &str)] = calls! {
    "getpid" = libc::SYS_getpid,
    "getrusage" = libc::SYS_getrusage,
    "times" = libc::SYS_times,
    "clock_gettime" = libc::SYS_clock_gettime,
    "getrlimit" = libc::SYS_getrlimit,
    "setrlimit" = libc::SYS_setrlimit,
    "flock" = libc::SYS_flock,
    "fallocate" = libc::SYS_fallocate,
    "getppid" = libc::SYS_getppid,
    "gettid" = libc::SYS_gettid,
    "getpgid" = libc::SYS_getpgid,
    "getsid" = libc::SYS_getsid,
    "setsid" = libc::SYS_setsid,
    "setpgid" = libc::SYS_setpgid,
    "setuid" = libc::SYS_setuid,
    "setgid" = libc::SYS_setgid,
    "setreuid" = libc::SYS_setreuid,
    "setregid" = libc::SYS_setregid,
    "setresuid" = libc::SYS_setresuid,
    "setresgid" = libc::SYS_setresgid,
    "setgroups" = libc::SYS_setgroups,
    "setrlimit" = libc::SYS_setrlimit,
    "prctl" = libc::SYS_prctl,
    "clone3" = libc::SYS_clone3,
    "wait4" = libc::SYS_wait4,
    "waitid" = libc::SYS_waitid,
    "exit" = libc::SYS_exit,
    "set_tid_address" = libc::SYS_set_tid_address,
    "set_robust_list" = libc::SYS_set_robust_list,
    "rseq" = libc::SYS_rseq,
    "membarrier" = libc::SYS_membarrier,
    "setitimer" = libc::SYS_setitimer,
    "getitimer" = libc::SYS_getitimer,
    "timer_create" = libc::SYS_timer_create,
    "timer_settime" = libc::SYS_timer_settime,
    "timer_delete" = libc::SYS_timer_delete,
    "timerfd_create" = libc::SYS_timerfd_create,
    "signalfd4" = libc::SYS_signalfd4,
    "rt_sigaction" = libc::SYS_rt_sigaction,
    "rt_sigsuspend" = libc::SYS_rt_sigsuspend,
    "rt_sigtimedwait" = libc::SYS_rt_sigtimedwait,
    "rt_sigpending" = libc::SYS_rt_sigpending,
    "sigaltstack" = libc::SYS_sigaltstack,
    "mmap" = libc::SYS_mmap,
    "munmap" = libc::SYS_munmap,
    "mremap" = libc::SYS_mremap,
    "mprotect" = libc::SYS_mprotect,
    "madvise" = libc::SYS_madvise,
    "mlock" = libc::SYS_mlock,
    "mlock2" = libc::SYS_mlock2,
    "mlockall" = libc::SYS_mlockall,
    "munlock" = libc::SYS_munlock,
    "pkey_alloc" = libc::SYS_pkey_alloc,
    "pkey_mprotect" = libc::SYS_pkey_mprotect,
    "remap_file_pages" = libc::SYS_remap_file_pages,
    "fcntl" = libc::SYS_fcntl,
    "close_range" = libc::SYS_close_range,
    "dup3" = libc::SYS_dup3,
    "socketpair" = libc::SYS_socketpair,
    "inotify_init1" = libc::SYS_inotify_init1,
    "inotify_add_watch" = libc::SYS_inotify_add_watch,
    "io_setup" = libc::SYS_io_setup,
    "seccomp" = libc::SYS_seccomp,
    "landlock_create_ruleset" = libc::SYS_landlock_create_ruleset,
    "personality" = libc::SYS_personality,
};

#[cfg(target_arch = "x86_64")]
const FREE_OLD: &[(c_long, &str)] = calls! {
    "fork" = libc::SYS_fork,
    "vfork" = libc::SYS_vfork,
    "alarm" = libc::SYS_alarm,
    "pause" = libc::SYS_pause,
    "getpgrp" = libc::SYS_getpgrp,
    "dup2" = libc::SYS_dup2,
    "arch_prctl" = libc::SYS_arch_prctl,
    "signalfd" = libc::SYS_signalfd,
};
#[cfg(not(target_arch = "x86_64"))]
const FREE_OLD: &[(c_long, &str)] = &[];

#[cfg(target_arch = "x86_64")]
const CONDITIONAL_OLD: &[(c_long, &str)] = calls! {
    "open" = libc::SYS_open,
};
#[cfg(not(target_arch = "x86_64"))]
const CONDITIONAL_OLD: &[(c_long, &str)] = &[];
