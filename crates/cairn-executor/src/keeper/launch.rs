//! Between the keeper and the target: what a new process does before it executes the program.
//!
//! The process shares the keeper's memory until exec, as with `vfork`: a fork would copy page tables as large as
//! the executor's process. The keeper sleeps meanwhile, so a failed step is simply written to the board. The
//! system call filter is in force already, inherited from the keeper; it knows our own exec by its address.

use super::{
    plan::{Plan, Step},
    raw::{self, check, syscall},
    shared::Board,
};
use cairn_abi::session::descriptors;
use libc::{c_int, c_void, pid_t};

/// The stack of the new process, which it needs for a few calls.
pub(super) const STACK_SIZE: usize = 64 << 10;

/// What the new process needs.
pub(super) struct Launch<'a> {
    pub plan: &'a Plan,
    pub board: *mut Board,
    pub launch_address: usize,
    /// Descriptors and the numbers under which the program finds them; negative ones are absent.
    pub fds: &'a [(c_int, c_int)],
    /// The number under which the program finds the scratch folder, if it does.
    pub scratch_place: Option<c_int>,
    /// The Landlock rules, or -1.
    pub ruleset: c_int,
}

/// Starts the process and returns once it executes the program or has failed.
pub(super) fn start(launch: &Launch<'_>, stack: &mut [u8]) -> Result<pid_t, c_int> {
    let top = stack.as_mut_ptr_range().end as usize & !15;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let argument = (&raw const *launch).cast_mut().cast::<c_void>();
    // SAFETY: the stack is ours and large enough, and both it and `launch` outlive the shared phase, because
    // with CLONE_VFORK this process sleeps until the other has executed or left.
    check(unsafe { libc::clone(run, top as *mut c_void, flags, argument) }).map(|pid| pid as pid_t)
}

extern "C" fn run(argument: *mut c_void) -> c_int {
    // SAFETY: `start` passes a live `Launch`.
    let launch = unsafe { &*argument.cast::<Launch<'_>>() };
    let Err((step, errno)) = prepare_and_execute(launch);
    // SAFETY: the keeper sleeps, so nobody else writes the board.
    unsafe {
        (*launch.board).failed_step = step as u32;
        (*launch.board).failed_errno = errno;
    }
    raw::leave(127)
}

fn prepare_and_execute(launch: &Launch<'_>) -> Result<std::convert::Infallible, (Step, c_int)> {
    let at = |step| move |errno| (step, errno);
    let plan = launch.plan;
    syscall(libc::SYS_setsid, [0; 5]).map_err(at(Step::Session))?;
    reset_signals();
    let high = arrange_descriptors(launch).map_err(at(Step::Descriptors))?;
    // Without it addresses differ from run to run; a container may forbid the call, which is no reason to stop.
    // SAFETY: only changes how the next exec lays out memory.
    unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as _) };

    if plan.drops_privileges {
        drop_bounding_set().map_err(at(Step::Bounding))?;
    }
    if let Some((user, group)) = plan.credentials {
        // Plain calls: those of libc would try to reach threads that exist only in the executor.
        syscall(libc::SYS_setgroups, [0; 5]).map_err(at(Step::Groups))?;
        let (user, group) = (user as usize, group as usize);
        syscall(libc::SYS_setresgid, [group, group, group, 0, 0]).map_err(at(Step::User))?;
        syscall(libc::SYS_setresuid, [user, user, user, 0, 0]).map_err(at(Step::User))?;
    }
    // After the change of user, which clears it.
    control(libc::PR_SET_PDEATHSIG, libc::SIGKILL as usize).map_err(at(Step::Session))?;
    if plan.drops_privileges {
        drop_capabilities().map_err(at(Step::Bounding))?;
        control(libc::PR_SET_NO_NEW_PRIVS, 1).map_err(at(Step::NoNewPrivileges))?;
    }
    if high.ruleset >= 0 {
        syscall(libc::SYS_landlock_restrict_self, [high.ruleset as usize, 0, 0, 0, 0])
            .map_err(at(Step::Landlock))?;
    }
    set_limits(&plan.limits).map_err(at(Step::Limits))?;

    // SAFETY: the executor wrote both addresses for this run.
    let (argv, envp) = unsafe { ((*launch.board).argv, (*launch.board).envp) };
    let executed = if high.program >= 0 {
        let flags = libc::AT_EMPTY_PATH as usize;
        syscall(libc::SYS_execveat, [high.program as usize, launch.launch_address, argv, envp, flags])
    } else {
        syscall(libc::SYS_execve, [launch.launch_address, argv, envp, 0, 0])
    };
    Err((Step::Exec, executed.err().unwrap_or(0)))
}

fn control(option: c_int, value: usize) -> Result<(), c_int> {
    syscall(libc::SYS_prctl, [option as usize, value, 0, 0, 0]).map(drop)
}

/// Handlers vanish at exec, but ignored signals stay ignored, and Rust ignores SIGPIPE.
fn reset_signals() {
    // SAFETY: this process has its own table of handlers; numbers that cannot be changed are refused.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        libc::umask(0o022);
    }
}

/// How many descriptors a program is given at most.
pub(super) const MAX_PLACED: usize = 12;

/// Descriptors that stay until exec, above all places.
struct High {
    ruleset: c_int,
    program: c_int,
}

fn arrange_descriptors(launch: &Launch<'_>) -> Result<High, c_int> {
    // First out of the way, then into place: the numbers may overlap.
    let mut moved = [(-1, -1); MAX_PLACED];
    for (slot, (fd, place)) in moved.iter_mut().zip(launch.fds) {
        *slot = (move_up(*fd)?, *place);
    }
    let high =
        High { ruleset: move_up(launch.ruleset)?, program: move_up(launch.plan.program_fd.unwrap_or(-1))? };
    let flags = libc::CLOSE_RANGE_CLOEXEC as usize;
    syscall(libc::SYS_close_range, [3, descriptors::END as usize - 1, 0, 0, 0])?;
    syscall(libc::SYS_close_range, [descriptors::END as usize, u32::MAX as usize, flags, 0, 0])?;
    for (fd, place) in moved {
        if fd >= 0 {
            // SAFETY: both numbers are ours.
            check(unsafe { libc::dup2(fd, place) })?;
        }
    }
    if let Some(place) = launch.scratch_place {
        // The keeper, and so this process, stands in it.
        // SAFETY: the path is a C string; the numbers are ours.
        unsafe {
            let fd = check(libc::open(c".".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY))? as c_int;
            check(libc::dup2(fd, place))?;
            if fd != place {
                raw::close(fd);
            }
        }
    }
    Ok(high)
}

fn move_up(fd: c_int) -> Result<c_int, c_int> {
    if fd < 0 {
        return Ok(-1);
    }
    // SAFETY: `fd` is ours.
    check(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, descriptors::END) }).map(|fd| fd as c_int)
}

fn drop_bounding_set() -> Result<(), c_int> {
    for capability in 0..64 {
        match control(libc::PR_CAPBSET_DROP, capability) {
            // The first number that is no capability; and without privileges there is nothing to drop.
            Err(libc::EINVAL | libc::EPERM) => break,
            other => other?,
        }
    }
    Ok(())
}

fn drop_capabilities() -> Result<(), c_int> {
    const VERSION_3: u32 = 0x2008_0522;
    let header = [VERSION_3, 0];
    let nothing = [0u32; 6];
    syscall(libc::SYS_capset, [header.as_ptr() as usize, nothing.as_ptr() as usize, 0, 0, 0]).map(drop)
}

fn set_limits(limits: &[(u32, u64)]) -> Result<(), c_int> {
    for (resource, value) in limits {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is valid for both calls.
        unsafe {
            check(libc::getrlimit(*resource as _, &mut limit))?;
            // Raising a hard limit needs a privilege that containers often lack.
            let value = (*value).min(limit.rlim_max);
            limit = libc::rlimit { rlim_cur: value, rlim_max: value };
            check(libc::setrlimit(*resource as _, &limit))?;
        }
    }
    Ok(())
}
