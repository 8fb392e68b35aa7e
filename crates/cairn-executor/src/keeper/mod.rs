//! The process that starts targets: one per executor, forked once, living inside the namespaces.
//!
//! [`Keeper`] is the executor's handle. [`serve`] and what it uses run in the other process.

mod cleanup;
mod launch;
mod namespaces;
mod plan;
mod raw;
mod request;
mod serve;
mod session;
mod shared;
mod tree;

pub(crate) use self::{
    plan::{NamespacePlan, Plan, ProgramMounts, Step},
    shared::{Board, LAUNCH_SIZE, Shared, Verdict},
};

use crate::error::ExecutorError;
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        signal::{Signal, kill},
        socket::{
            AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg,
            sendmsg, socketpair,
        },
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::{Pid, getegid, geteuid},
};
use std::{
    fs, io,
    io::{IoSlice, IoSliceMut},
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
    time::{Duration, Instant},
};

/// How long the keeper may take beyond the wall limit: ending a process tree has its own limit below this.
const GRACE: Duration = Duration::from_secs(20);

/// A running keeper.
#[derive(Debug)]
pub(crate) struct Keeper {
    pid: Pid,
    control: OwnedFd,
    /// The scratch folder, reachable from here although it may be mounted only there.
    scratch: OwnedFd,
    shared: Shared,
}

/// Which step kept a keeper from starting.
#[derive(Debug)]
pub(crate) struct SetupFailure {
    pub(crate) step: &'static str,
    pub(crate) source: io::Error,
}

impl From<SetupFailure> for ExecutorError {
    fn from(failure: SetupFailure) -> Self {
        Self::Setup { step: failure.step, source: failure.source }
    }
}

impl Keeper {
    /// Forks a keeper that follows `plan` and waits until its surroundings stand.
    ///
    /// `shared` must be the memory whose launch address the plan's filter was made for.
    pub(crate) fn start(plan: &Plan, mut shared: Shared) -> Result<Self, SetupFailure> {
        let failed = |step| move |errno: nix::Error| SetupFailure { step, source: errno.into() };
        let (control, theirs) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
                .map_err(failed("making a socket pair"))?;
        shared.write_board(Board::default());
        let mut stack = vec![0; launch::STACK_SIZE];

        let namespaces = plan.namespaces.as_ref();
        let mut flags = libc::SIGCHLD;
        if let Some(namespaces) = namespaces {
            flags |= libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWIPC;
            if namespaces.has_user {
                flags |= libc::CLONE_NEWUSER;
            }
        }
        // SAFETY: without CLONE_VM and with no stack this is a fork. The child calls only `live`, which keeps to
        // plain system calls and never returns.
        let forked = unsafe { libc::syscall(libc::SYS_clone, flags as libc::c_ulong, 0, 0, 0, 0) };
        if forked == 0 {
            serve::live(serve::Inheritance {
                plan,
                board: shared.board(),
                launch_address: shared.launch_address(),
                control: theirs.as_raw_fd(),
                stack: &mut stack,
            });
        }
        if forked < 0 {
            let step = if namespaces.is_some() { "entering namespaces" } else { "forking" };
            return Err(SetupFailure { step, source: io::Error::last_os_error() });
        }
        drop(theirs);
        let mut keeper = Half { pid: Pid::from_raw(forked as i32), control, is_whole: false };
        if namespaces.is_some_and(|namespaces| namespaces.has_user) {
            map_users(keeper.pid).map_err(|source| SetupFailure { step: "mapping users", source })?;
        }
        // A failure to send shows as a missing answer.
        let _ = send(keeper.control.as_fd(), b'g', &[]);
        let Some(scratch) = receive(keeper.control.as_fd(), GRACE) else {
            return Err(failure(&shared.read_board()));
        };
        let scratch = scratch.ok_or_else(|| SetupFailure {
            step: Step::text(Step::OpenScratch as u32),
            source: io::Error::from(io::ErrorKind::InvalidData),
        })?;
        let control = keeper
            .control
            .try_clone()
            .map_err(|source| SetupFailure { step: "arranging descriptors", source })?;
        keeper.is_whole = true;
        Ok(Self { pid: keeper.pid, control, scratch, shared })
    }

    /// Completes the start: hands over the Landlock rules every target enters, and waits for the filter.
    pub(crate) fn give_rules(&mut self, ruleset: Option<OwnedFd>) -> Result<(), SetupFailure> {
        let fds: Vec<RawFd> = ruleset.iter().map(|fd| fd.as_raw_fd()).collect();
        // A failure to send shows as a missing answer.
        let _ = send(self.control.as_fd(), b'l', &fds);
        receive(self.control.as_fd(), GRACE).map(drop).ok_or_else(|| failure(&self.shared.read_board()))
    }

    /// The scratch folder.
    pub(crate) fn scratch_fd(&self) -> BorrowedFd<'_> {
        self.scratch.as_fd()
    }

    /// The memory in which the next request is laid out.
    pub(crate) fn shared(&mut self) -> &mut Shared {
        &mut self.shared
    }

    /// Runs the target once; the request is already laid out.
    pub(crate) fn run(
        &mut self,
        fds: [BorrowedFd<'_>; 4],
        wall_limit: Duration,
    ) -> Result<Board, ExecutorError> {
        self.ask(request::RUN, &fds, wall_limit.saturating_add(GRACE))?;
        Ok(self.shared.read_board())
    }

    /// Starts a session; the request is already laid out. If the board it returns says that no step failed, the
    /// program was executed and lives until [`Keeper::end_session`].
    pub(crate) fn start_session(&mut self, fds: &[BorrowedFd<'_>]) -> Result<Board, ExecutorError> {
        self.ask(request::SESSION, fds, GRACE)?;
        Ok(self.shared.read_board())
    }

    /// What a process of the session holds, in bytes, and whether it is stopped.
    pub(crate) fn look_at(&mut self, pid: i32) -> Result<(u64, bool), ExecutorError> {
        self.shared.ask_about(pid);
        self.ask(request::LOOK, &[], GRACE)?;
        let board = self.shared.read_board();
        Ok((board.asked_resident, board.asked_is_stopped != 0))
    }

    /// Kills a process of the session; one that is not is left alone. Returns whether there was one, alive or not yet
    /// reaped.
    pub(crate) fn kill(&mut self, pid: i32) -> Result<bool, ExecutorError> {
        self.shared.ask_about(pid);
        self.ask(request::KILL, &[], GRACE)?;
        Ok(self.shared.read_board().asked_was_there != 0)
    }

    /// Ends the session with all its processes.
    pub(crate) fn end_session(&mut self) -> Result<(), ExecutorError> {
        self.ask(request::END, &[], GRACE)
    }

    /// How the first process of the session ended, if it did.
    pub(crate) fn session_end(&self) -> Option<i32> {
        self.shared.session_end()
    }

    fn ask(&self, byte: u8, fds: &[BorrowedFd<'_>], patience: Duration) -> Result<(), ExecutorError> {
        let mut given = [-1; request::MAX_GIVEN];
        for (slot, fd) in given.iter_mut().zip(fds) {
            *slot = fd.as_raw_fd();
        }
        send(self.control.as_fd(), byte, &given[..fds.len()]).map_err(|_| ExecutorError::KeeperLost)?;
        receive(self.control.as_fd(), patience).map(drop).ok_or(ExecutorError::KeeperLost)
    }
}

/// What a keeper wrote before it gave up.
fn failure(board: &Board) -> SetupFailure {
    let source = match board.failed_errno {
        0 => io::Error::from(io::ErrorKind::TimedOut),
        errno => io::Error::from_raw_os_error(errno),
    };
    SetupFailure { step: Step::text(board.failed_step), source }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        end(self.pid, &self.control);
    }
}

/// A keeper that has not answered yet; ended if it never does.
struct Half {
    pid: Pid,
    control: OwnedFd,
    is_whole: bool,
}

impl Drop for Half {
    fn drop(&mut self) {
        if !self.is_whole {
            end(self.pid, &self.control);
        }
    }
}

/// Closes the conversation, which a keeper obeys; one that does not is killed.
fn end(pid: Pid, control: &OwnedFd) {
    let _ = nix::sys::socket::shutdown(control.as_raw_fd(), nix::sys::socket::Shutdown::Both);
    let deadline = Instant::now() + GRACE;
    let mut pause = Duration::from_micros(50);
    while let Ok(WaitStatus::StillAlive) = waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
        if Instant::now() > deadline {
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, None);
            return;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Everyone keeps their number inside the user namespace. An ordinary user can map only themselves.
fn map_users(pid: Pid) -> io::Result<()> {
    let write = |name: &str, content: String| fs::write(format!("/proc/{pid}/{name}"), content);
    if geteuid().is_root() {
        write("uid_map", identity(&fs::read_to_string("/proc/self/uid_map")?))?;
        return write("gid_map", identity(&fs::read_to_string("/proc/self/gid_map")?));
    }
    write("setgroups", "deny".into())?;
    write("uid_map", format!("{0} {0} 1", geteuid()))?;
    write("gid_map", format!("{0} {0} 1", getegid()))
}

/// Maps each range that exists here onto itself.
fn identity(map: &str) -> String {
    map.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (start, count) = (fields.next()?, fields.nth(1)?);
            Some(format!("{start} {start} {count}\n"))
        })
        .collect()
}

fn send(socket: BorrowedFd<'_>, byte: u8, fds: &[RawFd]) -> nix::Result<()> {
    let message = [ControlMessage::ScmRights(fds)];
    let messages: &[_] = if fds.is_empty() { &[] } else { &message };
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(&[byte])], messages, MsgFlags::MSG_NOSIGNAL, None)
        .map(drop)
}

/// Waits for an answer, which may carry a descriptor. `None` if the keeper ended or takes too long.
fn receive(socket: BorrowedFd<'_>, patience: Duration) -> Option<Option<OwnedFd>> {
    let deadline = Instant::now() + patience;
    loop {
        let left =
            deadline.saturating_duration_since(Instant::now()).as_millis().min(i32::MAX as u128 - 1) as i32;
        let timeout = PollTimeout::try_from(left + 1).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(socket, PollFlags::POLLIN)], timeout) {
            Err(nix::Error::EINTR) => {}
            Ok(1..) => break,
            _ if Instant::now() < deadline => {}
            _ => return None,
        }
    }
    let mut byte = [0];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!([RawFd; 1]);
    let message =
        recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC).ok()?;
    if message.bytes == 0 {
        return None;
    }
    let fd = message.cmsgs().ok()?.find_map(|message| match message {
        ControlMessageOwned::ScmRights(fds) => fds.first().copied(),
        _ => None,
    });
    // SAFETY: the kernel has just made this descriptor for us.
    Some(fd.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }))
}
