//! Inside the keeper: one run after the other.

use super::{
    cleanup,
    launch::{self, Launch},
    namespaces,
    plan::{Plan, Step},
    raw::{self, check},
    request::{self, MAX_GIVEN},
    shared::{Board, MAX_REFUSED, Verdict},
    tree::{self, Tree},
};
use crate::sandbox::{
    policy::{self, Answer},
    seccomp,
};
use cairn_abi::channel::CHANNEL_FD;
use libc::{c_int, pid_t};

/// How often a process is asked where it is: on a busy machine it takes its time to answer.
const MAX_SIGNALS_OF_SAMPLES: u32 = 200;

/// How long a process may go on between two questions.
const PAUSE_BETWEEN_SAMPLES_NS: i64 = 10_000_000;

/// Everything the keeper is given by the executor it is a fork of.
pub(super) struct Inheritance<'a> {
    pub plan: &'a Plan,
    pub board: *mut Board,
    pub launch_address: usize,
    pub control: c_int,
    pub stack: &'a mut [u8],
}

/// The life of a keeper. Never returns, and never unwinds into the code it was forked from.
pub(super) fn live(inheritance: Inheritance<'_>) -> ! {
    struct LeaveOnUnwind;
    impl Drop for LeaveOnUnwind {
        fn drop(&mut self) {
            raw::leave(125)
        }
    }
    let _guard = LeaveOnUnwind;
    let board = inheritance.board;
    let plan = inheritance.plan;
    let token = inheritance.launch_address;
    let result = set_up_and_serve(inheritance);
    remove_left_folder(plan, token);
    let Err((step, errno)) = result else { raw::leave(0) };
    // SAFETY: the executor reads the board only after this process has answered or ended.
    unsafe {
        (*board).failed_step = step as u32;
        (*board).failed_errno = errno;
    }
    raw::leave(1)
}

/// The executor may have been killed, and then nobody else removes it.
fn remove_left_folder(plan: &Plan, token: usize) {
    if let Some(folder) = &plan.left_folder {
        cleanup::remove(folder, token);
    }
}

pub(super) struct Keeper<'a> {
    pub plan: &'a Plan,
    pub board: *mut Board,
    pub launch_address: usize,
    pub stack: &'a mut [u8],
    pub control: c_int,
    pub signals: c_int,
    /// Hands over the calls the filter asks about; -1 without a filter.
    pub listener: c_int,
    pub last_pid: c_int,
    pub ruleset: c_int,
}

fn set_up_and_serve(inheritance: Inheritance<'_>) -> Result<(), (Step, c_int)> {
    let Inheritance { plan, board, launch_address, control, stack } = inheritance;
    let at = |step| move |errno| (step, errno);
    let signals = block_signals().map_err(at(Step::Signals))?;
    close_inherited(plan, control, signals).map_err(at(Step::Descriptors))?;
    // SAFETY: takes no pointers; a session of its own keeps the terminal's signals away.
    unsafe {
        libc::setsid();
        libc::umask(0o022);
    }
    // The executor maps users now, from outside.
    if raw::receive::<1>(control, 0).map_err(at(Step::Descriptors))?.0.is_none() {
        return Ok(());
    }
    let last_pid = match &plan.namespaces {
        // SAFETY: the executor waits for the answer, so the board is ours.
        Some(namespaces) => namespaces::enter(plan, namespaces, unsafe { &mut *board })?,
        None => {
            // SAFETY: takes no pointers.
            check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })
                .map_err(at(Step::Subreaper))?;
            -1
        }
    };
    let scratch = open_scratch(plan).map_err(at(Step::OpenScratch))?;
    raw::send(control, b'r', scratch).map_err(at(Step::Descriptors))?;
    raw::close(scratch);

    let (byte, [ruleset]) = raw::receive::<1>(control, 0).map_err(at(Step::Landlock))?;
    if byte.is_none() {
        return Ok(());
    }
    let listener = install_filter(&plan.filter).map_err(at(Step::Filter))?;
    raw::send(control, b'f', -1).map_err(at(Step::Descriptors))?;
    let mut keeper =
        Keeper { plan, board, launch_address, stack, control, signals, listener, last_pid, ruleset };
    loop {
        let (byte, fds) = raw::receive::<MAX_GIVEN>(control, 0).map_err(at(Step::Descriptors))?;
        let Some(byte) = byte else { return Ok(()) };
        let [stdin, stdout, stderr, channel, ..] = fds;
        match byte {
            request::SESSION => keeper.serve_session(fds).map_err(at(Step::Descriptors))?,
            request::RUN => keeper.serve(&[(stdin, 0), (stdout, 1), (stderr, 2), (channel, CHANNEL_FD)]),
            // A request about a session that is over.
            _ => {}
        }
        for fd in fds {
            raw::close(fd);
        }
        raw::send(control, b'd', -1).map_err(at(Step::Descriptors))?;
    }
}

/// All signals wait; SIGCHLD is read from the returned descriptor.
fn block_signals() -> Result<c_int, c_int> {
    // SAFETY: zero is a valid set; all pointers are to live sets.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut set);
        check(libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut()))?;
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        check(libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)).map(|fd| fd as c_int)
    }
}

/// Closes what the executor had open: other keepers' sockets would never see their end otherwise.
fn close_inherited(plan: &Plan, control: c_int, signals: c_int) -> Result<(), c_int> {
    let mut kept = [control, signals, plan.program_fd.unwrap_or(control)];
    kept.sort_unstable();
    let mut next = 0;
    for fd in kept {
        if fd > next {
            raw::syscall(libc::SYS_close_range, [next as usize, fd as usize - 1, 0, 0, 0])?;
        }
        next = next.max(fd + 1);
    }
    raw::syscall(libc::SYS_close_range, [next as usize, u32::MAX as usize, 0, 0, 0])?;
    // Received descriptors must not land on 0 to 2.
    loop {
        // SAFETY: the path is a C string.
        let fd =
            check(unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) })? as c_int;
        if fd > 2 {
            raw::close(fd);
            return Ok(());
        }
    }
}

fn open_scratch(plan: &Plan) -> Result<c_int, c_int> {
    // SAFETY: the path is a C string.
    unsafe {
        check(libc::chdir(plan.scratch.as_ptr()))?;
        check(libc::open(c".".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC))
            .map(|fd| fd as c_int)
    }
}

/// Binds the keeper itself, once, so that every target inherits the filter: installing it costs more than starting
/// a process. What the keeper still needs, the filter lets through by the launch address.
fn install_filter(filter: &[libc::sock_filter]) -> Result<c_int, c_int> {
    if filter.is_empty() {
        return Ok(-1);
    }
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    let (mode, flags) =
        (libc::SECCOMP_SET_MODE_FILTER as usize, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as usize);
    raw::syscall(libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as usize, 1, 0, 0, 0])?;
    raw::syscall(libc::SYS_seccomp, [mode, flags, &raw const program as usize, 0, 0]).map(|fd| fd as c_int)
}

impl Keeper<'_> {
    fn serve(&mut self, fds: &[(c_int, c_int)]) {
        // SAFETY: as in `block_signals`; the answer is for this process alone.
        let own_peak = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
            usage.ru_maxrss
        };
        let started = raw::now_ns();
        let Some(pid) = self.launch(fds, None) else { return };
        let mut main = None;
        let verdict = if self.board().failed_step != 0 {
            Verdict::NotStarted
        } else {
            self.wait(pid, started, &mut main)
        };
        let elapsed = raw::now_ns() - started;
        let all_gone = tree::end_all(self.tree(pid), |reaped, status, usage| {
            if reaped == pid {
                main.get_or_insert((status, usage.ru_maxrss));
            }
        });
        let (status, peak) = main.unwrap_or((0, 0));
        let board = self.board();
        board.verdict = if all_gone { verdict } else { Verdict::Leftovers } as u32;
        board.wait_status = status;
        // The kernel counts the shared memory before exec as the target's own; a peak that is not above the
        // keeper's tells nothing.
        board.peak_resident = if peak > own_peak { peak as u64 * 1024 } else { 0 };
        board.elapsed_ns = elapsed;
    }

    /// Starts the program; `None` if not even a process could be made, which the board then says.
    pub(super) fn launch(&mut self, fds: &[(c_int, c_int)], scratch_place: Option<c_int>) -> Option<pid_t> {
        if self.last_pid >= 0 {
            // SAFETY: the buffer is one byte long. A failure only means another process id.
            unsafe { libc::pwrite(self.last_pid, b"1".as_ptr().cast(), 1, 0) };
        }
        let launch = Launch {
            plan: self.plan,
            board: self.board,
            launch_address: self.launch_address,
            fds,
            scratch_place,
            ruleset: self.ruleset,
        };
        match launch::start(&launch, self.stack) {
            Ok(pid) => Some(pid),
            Err(errno) => {
                let board = self.board();
                board.failed_step = Step::Clone as u32;
                board.failed_errno = errno;
                None
            }
        }
    }

    /// The executor is gone: so is everything it started.
    pub(super) fn leave(&self, main: pid_t) -> ! {
        tree::end_all(self.tree(main), |_, _, _| {});
        remove_left_folder(self.plan, self.launch_address);
        raw::leave(0)
    }

    pub(super) fn tree(&self, main: pid_t) -> Tree {
        Tree { is_first_process: self.plan.namespaces.is_some(), main, token: self.launch_address }
    }

    pub(super) fn board(&mut self) -> &mut Board {
        // SAFETY: between request and answer the board is the keeper's.
        unsafe { &mut *self.board }
    }

    /// Waits until the main process ends, stops, runs out of time or does what ends it.
    fn wait(&mut self, pid: pid_t, started: u64, main: &mut Option<(c_int, i64)>) -> Verdict {
        let wall_limit = self.board().wall_limit_ns;
        let deadline = started.saturating_add(wall_limit);
        let half = started.saturating_add(wall_limit / 2);
        let mut is_second_half = false;
        loop {
            if let Some(verdict) = look_at_children(pid, main) {
                return verdict;
            }
            let now = raw::now_ns();
            if now >= half && !is_second_half {
                is_second_half = true;
                self.board().resident_at_half = tree::resident(pid);
            }
            if now >= deadline {
                self.board().resident_at_end = tree::resident(pid);
                self.take_samples(pid);
                return Verdict::TimedOut;
            }
            let left = if is_second_half { deadline } else { half } - now;
            let timeout = libc::timespec {
                tv_sec: (left / 1_000_000_000) as i64,
                tv_nsec: (left % 1_000_000_000) as i64,
            };
            let mut polled = [
                libc::pollfd { fd: self.signals, events: libc::POLLIN, revents: 0 },
                libc::pollfd { fd: self.control, events: 0, revents: 0 },
                libc::pollfd { fd: self.listener, events: libc::POLLIN, revents: 0 },
            ];
            // SAFETY: the array and the timeout are valid; negative descriptors are skipped.
            unsafe { libc::ppoll(polled.as_mut_ptr(), 3, &timeout, std::ptr::null()) };
            let [signals, control, calls] = polled;
            if control.revents & (libc::POLLHUP | libc::POLLERR) != 0 {
                self.leave(pid);
            }
            if signals.revents != 0 {
                self.drain_signals();
            }
            if calls.revents & libc::POLLIN != 0
                && let Some((_, number)) = self.answer_call()
            {
                self.board().ended_by_call = number;
                return Verdict::Forbidden;
            }
        }
    }

    /// Asks a process that is out of time where it is, again and again until it ends of it.
    fn take_samples(&mut self, pid: pid_t) {
        let signal = self.board().sample_signal;
        if signal == 0 {
            return;
        }
        for _ in 0..MAX_SIGNALS_OF_SAMPLES {
            tree::send(pid, signal, self.launch_address);
            let pause = libc::timespec { tv_sec: 0, tv_nsec: PAUSE_BETWEEN_SAMPLES_NS };
            let mut polled = [libc::pollfd { fd: self.signals, events: libc::POLLIN, revents: 0 }];
            // SAFETY: the array and the timeout are valid.
            unsafe { libc::ppoll(polled.as_mut_ptr(), 1, &pause, std::ptr::null()) };
            self.drain_signals();
            if tree::has_ended(pid) {
                return;
            }
        }
    }

    /// Forgets that children changed: what happened is asked from `wait4`.
    pub(super) fn drain_signals(&self) {
        let mut buffer = [0u8; 128];
        // SAFETY: the buffer holds one record.
        unsafe { libc::read(self.signals, buffer.as_mut_ptr().cast(), buffer.len()) };
    }

    /// Answers one refused call; returns the caller and the call's number if the run ends for it.
    pub(super) fn answer_call(&mut self) -> Option<(pid_t, u32)> {
        // SAFETY: the kernel wants the record zeroed and fills it.
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: `call` is the record this request is defined with.
        check(unsafe { libc::ioctl(self.listener, libc::SECCOMP_IOCTL_NOTIF_RECV as _, &mut call) }).ok()?;
        if call.data.arch != seccomp::NATIVE {
            return Some((call.pid as pid_t, policy::OTHER_ARCHITECTURE));
        }
        let number = call.data.nr as u32;
        let long_number = i64::from(call.data.nr);
        let answer = match policy::answer(long_number) {
            Answer::DependsOnReceiver => {
                let signal = call.data.args.get(policy::signal_argument(long_number)).copied().unwrap_or(0);
                self.answer_signal(call.data.args[0] as pid_t, signal as c_int)
            }
            Answer::DependsOnProcess => {
                self.answer_process(policy::process_meant(long_number, call.data.args))
            }
            answer => answer,
        };
        let mut response = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags: 0 };
        match answer {
            Answer::End => return Some((call.pid as pid_t, number)),
            Answer::Allow => response.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
            Answer::Refuse | Answer::DependsOnReceiver | Answer::DependsOnProcess => {
                response.error = -libc::EPERM;
                self.note(number);
            }
        }
        // SAFETY: `response` is the record this request is defined with. If the caller is gone, it fails.
        unsafe { libc::ioctl(self.listener, libc::SECCOMP_IOCTL_NOTIF_SEND as _, &mut response) };
        None
    }

    /// A signal may go to processes of the run. One aimed at the keeper, at init or at everybody ends it.
    fn answer_signal(&mut self, pid: pid_t, signal: c_int) -> Answer {
        // SAFETY: always succeeds.
        let own = unsafe { libc::getpid() };
        let answer = match pid {
            -1 | 1 => Answer::End,
            _ if pid.checked_abs() == Some(own) => Answer::End,
            // The own group, which is the run's.
            0 => Answer::Allow,
            _ if pid.checked_abs().is_some_and(|pid| self.is_of_run(pid)) => Answer::Allow,
            _ => Answer::Refuse,
        };
        if answer == Answer::Allow && signal == libc::SIGXFSZ {
            self.board().sent_size_signal = 1;
        }
        answer
    }

    /// A process of the run may be changed; all processes of a user may not.
    fn answer_process(&self, meant: Option<pid_t>) -> Answer {
        match meant {
            Some(0) => Answer::Allow,
            Some(pid) if self.is_of_run(pid) => Answer::Allow,
            _ => Answer::Refuse,
        }
    }

    pub(super) fn is_of_run(&self, pid: pid_t) -> bool {
        match self.plan.namespaces {
            // Everything in the pid namespace is, but for the keeper.
            Some(_) => pid != 1,
            None => tree::is_descendant(pid),
        }
    }

    fn note(&mut self, number: u32) {
        let board = self.board();
        let n = (board.n_refused as usize).min(MAX_REFUSED);
        if board.refused.iter().take(n).all(|noted| *noted != number)
            && let Some(slot) = board.refused.get_mut(n)
        {
            *slot = number;
            board.n_refused += 1;
        }
    }
}

/// Reaps whatever ended. Orphans of the run are adopted by the keeper and vanish here too.
fn look_at_children(pid: pid_t, main: &mut Option<(c_int, i64)>) -> Option<Verdict> {
    loop {
        let mut status = 0;
        // SAFETY: zero is a valid rusage, and both are valid for writing.
        let (reaped, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            let flags = libc::WNOHANG | libc::WUNTRACED | libc::__WALL;
            (libc::wait4(-1, &mut status, flags, &mut usage), usage)
        };
        if reaped == pid {
            if libc::WIFSTOPPED(status) {
                return Some(Verdict::Stopped);
            }
            *main = Some((status, usage.ru_maxrss));
            return Some(Verdict::Ended);
        }
        if reaped <= 0 {
            return None;
        }
    }
}
