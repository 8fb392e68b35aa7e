//! A client of AFL's forkserver.
//!
//! ```text
//!   client                               program
//!                         ◄── 199 ──     its options, once
//!   accepts shared memory  ── 198 ──►    (only if the options offer it)
//!   four zero bytes        ── 198 ──►    forks, or continues its stopped child
//!                         ◄── 199 ──     the child's process id
//!                         ◄── 199 ──     its wait status
//! ```

use super::memory::Segment;
use anyhow::{Context, Result, bail, ensure};
use cairn_abi::session::class;
use std::{
    fs,
    io::{Read, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Bits of the options a program announces.
mod options {
    pub const ENABLED: u32 = 0x8000_0001;
    pub const MAP_SIZE: u32 = 0x4000_0000;
    pub const SHARED_INPUT: u32 = 0x0100_0000;
    /// The map's size less one, in these bits.
    pub const MAP_SIZE_SHIFT: u32 = 1;
    pub const MAP_SIZE_MASK: u32 = 0x00ff_fffe;
}

/// The map a program is given before it has said how large its own is.
const MAP_SIZE: usize = 1 << 20;
/// The largest input in shared memory.
const MAX_INPUT: usize = 1 << 20;

/// Where inputs are put.
pub enum Delivery {
    /// A file the command line names, made anew for each run as `afl-fuzz` does.
    File(PathBuf),
    /// Shared memory, which only programs with a loop of their own accept.
    SharedMemory,
}

/// A program under its forkserver.
pub struct Client {
    child: Child,
    requests: fs::File,
    answers: fs::File,
    map: Segment,
    map_size: usize,
    /// What was seen before, in the same classes as AFL's.
    seen: Vec<u8>,
    input: Segment,
    file: Option<PathBuf>,
}

impl Client {
    /// Starts `program` with `words` and shakes hands.
    pub fn start(program: &Path, words: &[String], delivery: Delivery) -> Result<Self> {
        let (map, input) = (Segment::new(MAP_SIZE)?, Segment::new(4 + MAX_INPUT)?);
        // Inherited by the shell below, which gives them their numbers.
        let (request_end, requests) = nix::unistd::pipe()?;
        let (answers, answer_end) = nix::unistd::pipe()?;
        for ours in [&requests, &answers] {
            nix::fcntl::fcntl(ours, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC))?;
        }
        let (r, w) = (request_end.as_raw_fd(), answer_end.as_raw_fd());
        let script = format!("exec 198<&{r} 199>&{w} {r}<&- {w}>&-; exec \"$0\" \"$@\"");
        let mut command = Command::new("bash");
        command
            .args(["-c", &script])
            .arg(program)
            .args(words)
            .env_clear()
            .env("LC_ALL", "C")
            .env("LD_BIND_NOW", "1")
            .env("__AFL_SHM_ID", map.id())
            .env("AFL_MAP_SIZE", MAP_SIZE.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let code = fs::read(program).with_context(|| format!("failed to read `{}`", program.display()))?;
        for (mark, variable) in [
            (&b"##SIG_AFL_PERSISTENT##"[..], "__AFL_PERSISTENT"),
            (&b"##SIG_AFL_DEFER_FORKSRV##"[..], "__AFL_DEFER_FORKSRV"),
        ] {
            if code.windows(mark.len()).any(|window| window == mark) {
                command.env(variable, "1");
            }
        }
        let file = match delivery {
            Delivery::File(path) => Some(path),
            Delivery::SharedMemory => {
                command.env("__AFL_SHM_FUZZ_ID", input.id());
                None
            }
        };
        let child = command.spawn().context("failed to start bash")?;
        drop((request_end, answer_end));
        let mut client = Self {
            child,
            requests: requests.into(),
            answers: answers.into(),
            map,
            map_size: 1 << 16,
            seen: Vec::new(),
            input,
            file,
        };
        client.shake_hands().with_context(|| format!("`{}` is no forkserver", program.display()))?;
        Ok(client)
    }

    fn shake_hands(&mut self) -> Result<()> {
        let offered = self.answer()?;
        let has = |option: u32| offered & (options::ENABLED | option) == options::ENABLED | option;
        if has(options::MAP_SIZE) {
            self.map_size = ((offered & options::MAP_SIZE_MASK) >> options::MAP_SIZE_SHIFT) as usize + 1;
        }
        ensure!(self.map_size <= MAP_SIZE, "its map of {} bytes is too large", self.map_size);
        self.seen = vec![0; self.map_size];
        if self.file.is_none() {
            ensure!(has(options::SHARED_INPUT), "it takes no input from shared memory");
            self.request(options::ENABLED | options::SHARED_INPUT)?;
        }
        Ok(())
    }

    /// Runs one input; returns the wait status and how many counters were hit as never before.
    pub fn run(&mut self, bytes: &[u8]) -> Result<(i32, usize)> {
        match &self.file {
            Some(path) => {
                let _ = fs::remove_file(path);
                fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)?;
            }
            None => {
                ensure!(bytes.len() <= MAX_INPUT, "an input of {} bytes is too large", bytes.len());
                let memory = self.input.bytes();
                memory[..4].copy_from_slice(&(bytes.len() as u32).to_ne_bytes());
                memory[4..4 + bytes.len()].copy_from_slice(bytes);
            }
        }
        self.map.bytes()[..self.map_size].fill(0);
        self.request(0)?;
        let process = self.answer()?;
        if process as i32 <= 0 {
            bail!("the forkserver could not fork");
        }
        let status = self.answer()? as i32;
        Ok((status, note_new(&self.map.bytes()[..self.map_size], &mut self.seen)))
    }

    /// How many counters the last run hit.
    pub fn n_hit(&mut self) -> usize {
        let size = self.map_size;
        self.map.bytes()[..size].iter().filter(|counter| **counter != 0).count()
    }

    /// How many counters the program has, to within the padding at the end of its map.
    pub fn n_counters(&self) -> usize {
        self.map_size
    }

    fn request(&mut self, word: u32) -> Result<()> {
        Ok(self.requests.write_all(&word.to_ne_bytes())?)
    }

    fn answer(&mut self) -> Result<u32> {
        let mut word = [0; 4];
        self.answers.read_exact(&mut word)?;
        Ok(u32::from_ne_bytes(word))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A forkserver ends by itself when nobody asks any more; a stopped child of its would not.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(path) = &self.file {
            let _ = fs::remove_file(path);
        }
    }
}

/// Adds the counters of a run to what was seen, eight at a time where none was hit, as `afl-fuzz` does after each run.
fn note_new(map: &[u8], seen: &mut [u8]) -> usize {
    let mut n_new = 0;
    for (counters, seen) in map.chunks(8).zip(seen.chunks_mut(8)) {
        if counters == [0; 8] {
            continue;
        }
        for (counter, seen) in counters.iter().zip(seen) {
            let class = class(*counter);
            n_new += usize::from(class & !*seen != 0);
            *seen |= class;
        }
    }
    n_new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_new_once_in_each_class() {
        let mut seen = vec![0; 16];
        let mut map = vec![0; 16];
        map[9] = 5;
        assert_eq!(note_new(&map, &mut seen), 1);
        map[9] = 6;
        assert_eq!(note_new(&map, &mut seen), 0);
        map[9] = 1;
        map[0] = 1;
        assert_eq!(note_new(&map, &mut seen), 2);
    }
}
