//! A client of AFL's forkserver that says exactly what a test wants said.

use crate::support::Program;
use std::{
    fs::File,
    io::{Read as _, Seek as _, Write as _},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::{Child, Command, Stdio},
    ptr,
};

/// Where AFL's pipes are, seen from the target.
pub const CONTROL: i32 = 198;
pub const STATUS: i32 = 199;

/// A started target and its client.
pub struct Client {
    pub target: Child,
    control: Option<File>,
    status: File,
    pub map: Segment,
    pub testcase: Option<Segment>,
    stdin: File,
}

/// What a client brings.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    pub map_size: usize,
    pub testcase_size: Option<usize>,
    pub is_persistent: bool,
    pub variables: &'a [(&'a str, &'a str)],
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self { map_size: 1 << 16, testcase_size: None, is_persistent: false, variables: &[] }
    }
}

impl Client {
    /// Starts the target. Nothing was said yet.
    pub fn start(program: &Program, setup: Setup<'_>) -> Self {
        let path = program.workspace.write("stdin", "");
        let stdin = File::options().read(true).write(true).open(path).unwrap();
        let map = Segment::new(setup.map_size);
        let testcase = setup.testcase_size.map(Segment::new);
        let mut command = program.command(None);
        command.stdin(Stdio::from(stdin.try_clone().unwrap())).env("__AFL_SHM_ID", map.number.to_string());
        if let Some(testcase) = &testcase {
            command.env("__AFL_SHM_FUZZ_ID", testcase.number.to_string());
        }
        if setup.is_persistent {
            command.env("__AFL_PERSISTENT", "1");
        }
        command.envs(setup.variables.iter().copied());
        let ends = give_pipes(&mut command);
        let target = command.spawn().unwrap();
        // The target's ends go with the command that held them.
        let (control, status) = ends.keep();
        drop(command);
        Self { target, control: Some(control), status, map, testcase, stdin }
    }

    /// Starts the target, takes the greeting of the old form and agrees to everything.
    pub fn greeted(program: &Program, setup: Setup<'_>) -> Self {
        let mut client = Self::start(program, setup);
        let options = client.hear().expect("a greeting");
        if options & 0x0100_0000 != 0 {
            client.say(0x8100_0001);
        }
        client
    }

    /// What the target says next; `None` when it said its last.
    pub fn hear(&mut self) -> Option<u32> {
        let mut word = [0; 4];
        self.status.read_exact(&mut word).ok().map(|()| u32::from_ne_bytes(word))
    }

    pub fn say(&mut self, word: u32) {
        self.control.as_mut().unwrap().write_all(&word.to_ne_bytes()).unwrap();
    }

    /// Puts an input into shared memory if there is any, else on standard input.
    pub fn bring(&mut self, input: &[u8]) {
        if let Some(testcase) = &mut self.testcase {
            testcase.bytes()[..4].copy_from_slice(&u32::try_from(input.len()).unwrap().to_ne_bytes());
            testcase.bytes()[4..4 + input.len()].copy_from_slice(input);
            return;
        }
        self.stdin.rewind().unwrap();
        self.stdin.write_all(input).unwrap();
        self.stdin.set_len(input.len() as u64).unwrap();
        self.stdin.rewind().unwrap();
    }

    /// Asks for a run and returns the id of the process that runs it.
    pub fn begin(&mut self, input: &[u8], was_killed: bool) -> i32 {
        self.bring(input);
        self.map.bytes().fill(0);
        self.say(was_killed.into());
        self.hear().expect("a child").cast_signed()
    }

    /// A whole run.
    pub fn run(&mut self, input: &[u8]) -> Told {
        let child = self.begin(input, false);
        let status = self.hear().expect("a status").cast_signed();
        Told { child, status, hits: self.hits() }
    }

    /// The counters that are not zero. What stands before them has to be.
    pub fn hits(&mut self) -> Vec<(usize, u8)> {
        let (head, counters) = self.map.bytes().split_at(64);
        assert_eq!(head, [0; 64]);
        let counters = counters.iter().enumerate().filter(|(_, count)| **count != 0);
        counters.map(|(index, count)| (index, *count)).collect()
    }

    /// Goes away without a word; the target notices when it listens.
    pub fn hang_up(&mut self) {
        self.control = None;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.hang_up();
        let _ = self.target.kill();
        let _ = self.target.wait();
    }
}

/// What the target told of a run.
#[derive(Debug)]
pub struct Told {
    pub child: i32,
    pub status: i32,
    pub hits: Vec<(usize, u8)>,
}

impl Told {
    pub fn exited(&self) -> Option<i32> {
        libc::WIFEXITED(self.status).then(|| libc::WEXITSTATUS(self.status))
    }

    pub fn died_of(&self) -> Option<i32> {
        libc::WIFSIGNALED(self.status).then(|| libc::WTERMSIG(self.status))
    }

    pub fn stopped(&self) -> bool {
        libc::WIFSTOPPED(self.status)
    }
}

/// The ends of two pipes, the target's until it has started.
pub struct Ends {
    ours: (File, File),
    _theirs: (OwnedFd, OwnedFd),
}

impl Ends {
    /// Closes the target's ends here and returns ours: control, status.
    pub fn keep(self) -> (File, File) {
        self.ours
    }
}

/// Puts two pipes where a forkserver looks for them.
pub fn give_pipes(command: &mut Command) -> Ends {
    let (control_read, control_write) = std::io::pipe().unwrap();
    let (status_read, status_write) = std::io::pipe().unwrap();
    let theirs = (OwnedFd::from(control_read), OwnedFd::from(status_write));
    let (control, status) = (theirs.0.as_raw_fd(), theirs.1.as_raw_fd());
    // SAFETY: `dup2` may be called between fork and exec.
    unsafe {
        command.pre_exec(move || {
            if libc::dup2(control, CONTROL) < 0 || libc::dup2(status, STATUS) < 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        })
    };
    let ours = (File::from(OwnedFd::from(control_write)), File::from(OwnedFd::from(status_read)));
    Ends { ours, _theirs: theirs }
}

/// System V shared memory, gone with the last process that uses it.
pub struct Segment {
    pub number: i32,
    start: *mut u8,
    size: usize,
}

impl Segment {
    pub fn new(size: usize) -> Self {
        // SAFETY: a new segment at a place of the kernel's choice. Marked as removed, it can still be attached by number.
        unsafe {
            let number = libc::shmget(libc::IPC_PRIVATE, size, libc::IPC_CREAT | 0o600);
            let start = libc::shmat(number, ptr::null(), 0).cast::<u8>();
            assert_ne!(start.addr(), usize::MAX, "{}", std::io::Error::last_os_error());
            libc::shmctl(number, libc::IPC_RMID, ptr::null_mut());
            Self { number, start, size }
        }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: attached with that size; the target runs only while nobody looks.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.size) }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: nobody uses the bytes any more.
        unsafe { libc::shmdt(self.start.cast()) };
    }
}
