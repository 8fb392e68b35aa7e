//! Memory the executor and its keeper share; the target never sees it.
//!
//! ```text
//!   page 0          Board: the request of a run and its answer
//!   launch address  the path to execute, then argument and environment strings and their pointer arrays
//! ```
//! The keeper is a fork, so the memory lies at the same address in both and pointers can be written by one for
//! the other. The launch address is also how the system call filter knows our own exec from the target's.

use cairn_abi::channel::PAGE;
use memmap2::MmapMut;
use std::{
    io,
    sync::atomic::{AtomicU32, Ordering},
};

/// The most bytes of paths, arguments, environment and pointers. The kernel takes 2 MiB of strings.
pub(crate) const LAUNCH_SIZE: usize = 6 << 20;

/// How many refused calls of a run are remembered.
pub(crate) const MAX_REFUSED: usize = 32;

/// What the two sides tell each other about one run.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Board {
    // Written by the executor.
    pub wall_limit_ns: u64,
    pub argv: usize,
    pub envp: usize,
    /// The signal that asks a run where it is when its time is up; 0 where nobody wants to know.
    pub sample_signal: i32,
    /// The process of a session that a request is about.
    pub asked_pid: i32,

    // Written by the keeper.
    pub verdict: u32,
    pub wait_status: i32,
    pub peak_resident: u64,
    pub elapsed_ns: u64,
    pub ended_by_call: u32,
    /// Whether a process of the run sent SIGXFSZ, which otherwise comes from the kernel.
    pub sent_size_signal: u32,
    /// What the main process held when half of the wall limit had passed, and when all of it had.
    pub resident_at_half: u64,
    pub resident_at_end: u64,
    pub n_refused: u32,
    pub refused: [u32; MAX_REFUSED],
    pub failed_step: u32,
    pub failed_errno: i32,
    pub proc_hidden: u32,
    pub has_fixed_pids: u32,

    // Written by the keeper while a session lives, read by the executor at any time.
    /// 1 when the first process of the session has ended; `wait_status` says how.
    pub session_ended: u32,
    /// What the process asked about holds now, in bytes.
    pub asked_resident: u64,
    /// Whether the process asked about is stopped.
    pub asked_is_stopped: u32,
    /// Whether there was the process asked about, which is killed now.
    pub asked_was_there: u32,
}

/// How the keeper saw a run end; the number in [`Board::verdict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Verdict {
    /// It did not start; `failed_step` says why.
    NotStarted = 0,
    /// By itself; `wait_status` says how.
    Ended = 1,
    /// The wall limit passed.
    TimedOut = 2,
    /// It stopped.
    Stopped = 3,
    /// It made the call `ended_by_call`.
    Forbidden = 4,
    /// It ended, but not everything it started could be ended.
    Leftovers = 5,
}

impl Verdict {
    pub(crate) fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Ended,
            2 => Self::TimedOut,
            3 => Self::Stopped,
            4 => Self::Forbidden,
            5 => Self::Leftovers,
            _ => Self::NotStarted,
        }
    }
}

/// The shared memory, owned by the executor and inherited by the keeper.
#[derive(Debug)]
pub(crate) struct Shared {
    map: MmapMut,
}

impl Shared {
    pub(crate) fn new() -> io::Result<Self> {
        let file = crate::capture::memory_file("cairn-board")?;
        file.set_len((PAGE + LAUNCH_SIZE) as u64)?;
        // SAFETY: the file is ours alone and keeps its size; both processes access it through raw pointers only
        // while the other waits on the control socket.
        let map = unsafe { MmapMut::map_mut(&file)? };
        Ok(Self { map })
    }

    /// Where the board lies, in both processes.
    pub(crate) fn board(&self) -> *mut Board {
        self.map.as_ptr().cast::<Board>().cast_mut()
    }

    /// Where the path to execute lies, in both processes.
    pub(crate) fn launch_address(&self) -> usize {
        self.map.as_ptr() as usize + PAGE
    }

    /// The bytes from the launch address on.
    pub(crate) fn launch_bytes(&mut self) -> &mut [u8] {
        &mut self.map[PAGE..]
    }

    pub(crate) fn read_board(&self) -> Board {
        // SAFETY: the mapping is page-aligned and larger than a board, and the keeper is waiting or gone.
        unsafe { self.board().read_volatile() }
    }

    /// How the first process of a session ended, if it did. May be asked while the keeper works.
    pub(crate) fn session_end(&self) -> Option<i32> {
        // SAFETY: the mapping is page-aligned and larger than a board; the keeper writes the status before it sets
        // the flag, and neither of them again while the session lasts.
        unsafe {
            let board = self.board();
            let ended = AtomicU32::from_ptr(&raw mut (*board).session_ended).load(Ordering::Acquire) != 0;
            ended.then(|| (&raw const (*board).wait_status).read_volatile())
        }
    }

    /// Names the process the next request is about.
    pub(crate) fn ask_about(&mut self, pid: i32) {
        // SAFETY: as in `session_end`; the keeper reads it only when the request has come.
        unsafe { (&raw mut (*self.board()).asked_pid).write_volatile(pid) }
    }

    pub(crate) fn write_board(&mut self, board: Board) {
        // SAFETY: as in `read_board`.
        unsafe { self.board().write_volatile(board) }
    }
}
