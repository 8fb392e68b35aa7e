//! A live target that runs many inputs, one after another.
//!
//! ```text
//!   host                       template                       runner
//!   starts the process   ──►   runs up to `main`, waits
//!   turn = Template      ──►   forks a runner          ──►    takes a snapshot, waits
//!   writes inputs,
//!   turn = Runner        ────────────────────────────────►    restores, runs, writes a result; and the next
//!                        ◄────────────────────────────────    turn = Host
//!                              a runner died:
//!                        ◄──   turn = Host
//! ```
//! Whoever has the [`SessionBoard::turn`] acts; the others sleep on it (a futex). The template stays as it was when
//! `main` was about to be called, so a runner that crashed, hung or was ruined is replaced by a fork.
//!
//! Inputs and baseline are mapped read-only in the target. A result carries the number of its run and a checksum:
//! what fails the check is run again.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// Descriptors of a session in the target, all protected from it: the lowest is [`crate::channel::CHANNEL_FD`].
pub mod descriptors {
    /// What standard input is restored from.
    pub const STDIN: i32 = 191;
    /// What standard output is restored from.
    pub const STDOUT: i32 = 192;
    /// What standard error is restored from.
    pub const STDERR: i32 = 193;
    /// The scratch folder, where every run starts.
    pub const SCRATCH: i32 = 194;
    /// Tells whether anything in the scratch folder changed (inotify, non-blocking); may be absent.
    pub const WATCH: i32 = 195;
    /// The memory file behind standard input, open for writing; the target's own [`STDIN`] is read-only.
    pub const STDIN_CONTENT: i32 = 196;
    /// Opened by the runner for itself: `/proc/self/statm`.
    pub const STATM: i32 = 197;
    /// Opened by the runner for itself: `/proc/self/pagemap`.
    pub const PAGEMAP: i32 = 198;
    /// Opened by the runner for itself: what keeps track of written pages.
    pub const WRITE_TRACKER: i32 = 199;
    /// Opened by the template for itself: what runs find in `/proc/self/maps`.
    pub const OWN_MAPS: i32 = 200;
    /// Opened by the runner for itself: the file of the scratch folder that it wrote last.
    pub const FILE: i32 = 201;
    /// The number after the last protected descriptor.
    pub const END: i32 = 202;
}

/// Who acts next; the value of [`SessionBoard::turn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Turn {
    /// The host.
    Host = 0,
    /// The template: it forks a runner.
    Template = 1,
    /// The runner: it works off the batch.
    Runner = 2,
}

/// What state a runner keeps from one input to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RunnerMode {
    /// All of it: a harness is called again and again, as libFuzzer does. Only `exit` is caught.
    Persistent = 0,
    /// None: the process is restored before every run, and system calls that cannot be undone end the run.
    Snapshot = 1,
}

/// What a batch holds, and a runner does with it; the value of [`SessionBoard::batch_kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BatchKind {
    /// Inputs, in [`InputSlot`]s: they are run.
    Inputs = 0,
    /// Buffers, in [`ChangeSlot`](crate::changes::ChangeSlot)s: the harness changes them itself.
    Changes = 1,
}

/// The page on which host, template and runner meet.
#[repr(C)]
pub struct SessionBoard {
    /// A [`Turn`] as a number; a futex.
    pub turn: AtomicU32,
    /// What the host wants of a runner, a [`RunnerMode`] as a number.
    pub mode: AtomicU32,

    // The batch, written by the host before it passes the turn.
    /// Inputs of the batch.
    pub n_inputs: AtomicU32,
    /// What the host wants to know, bits of [`wants`].
    pub wants: AtomicU32,
    /// The number of the first run of the batch; the others follow. Never repeated in a session.
    pub first_run: AtomicU64,
    /// The fuel of each run; 0 for no limit.
    pub fuel: AtomicU64,

    // Written by the template.
    /// The process id of the last runner, as seen in its own namespace.
    pub runner: AtomicU32,
    /// How the last runner ended, as `wait4` says; valid when `runner_ended` is 1.
    pub runner_status: AtomicU32,
    /// 1 when the last runner has ended, 2 when the template is also done with the turn.
    pub runner_ended: AtomicU32,
    /// Largest memory the ended runner held, in bytes.
    pub runner_peak: AtomicU64,

    // Written by the runner.
    /// Index in the batch of the input that is running, or ran last.
    pub current: AtomicU32,
    /// Inputs of the batch that have a result. A batch may end early; see [`flags::LAST`].
    pub n_done: AtomicU32,
    /// Why no snapshot can be taken, a [`Obstacle`] as a number.
    pub obstacle: AtomicU32,
    /// Bytes the snapshot holds.
    pub snapshot_size: AtomicU64,
    /// 1 while the program runs, 0 while the runner itself does: a death then says nothing about the input.
    pub is_running: AtomicU32,
    /// What the program is told about its limit of address space, which is larger in a session; 0 for no limit.
    pub memory_limit: AtomicU64,
    /// Signals whose handling runs have changed, one bit each. Kept from runner to runner: only these need restoring.
    pub signals: AtomicU32,

    /// What the batch holds, a [`BatchKind`] as a number; written by the host.
    pub batch_kind: AtomicU32,
    /// What a harness can change itself, bits of [`crate::changes::changers`]; written by the template.
    pub changers: AtomicU32,
    /// Bytes of the channel of a process that serves one run, for programs that look at their own mappings; written by the host.
    pub channel_alone: AtomicU64,
}

const _: () = assert!(size_of::<SessionBoard>() <= crate::channel::PAGE);

/// What the host may want of each run; bits of [`SessionBoard::wants`].
pub mod wants {
    /// A copy of the counters if there is something new.
    pub const COUNTERS_IF_NEW: u32 = 1;
    /// A copy of the counters always.
    pub const COUNTERS: u32 = 2;
    /// What was written to standard output and standard error, and the harness output.
    pub const OUTPUT: u32 = 4;
}

/// Why a target cannot be run from a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Obstacle {
    /// It can.
    None = 0,
    /// `/proc/self/maps` cannot be read.
    Maps = 1,
    /// It had started threads before `main`.
    Threads = 2,
    /// It has memory that is shared with others or cannot be copied.
    SharedMemory = 3,
    /// Its writable memory is larger than can be restored quickly, and the kernel does not tell what was written.
    Size = 4,
    /// The kernel refused the system call filter.
    Filter = 5,
    /// The kernel refused memory or another thing a runner needs.
    Setup = 6,
    /// Before `main` it opened files or left its folder, or a symbolic view has read its input.
    BeforeMain = 7,
}

impl Obstacle {
    /// Reads an obstacle written by the target.
    pub fn from_target(number: u32) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Maps,
            2 => Self::Threads,
            3 => Self::SharedMemory,
            4 => Self::Size,
            5 => Self::Filter,
            7 => Self::BeforeMain,
            _ => Self::Setup,
        }
    }
}

/// A part of the inputs or the captured region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Span {
    /// From the start of the region.
    pub offset: u32,
    /// In bytes.
    pub length: u32,
}

/// One input of a batch. The inputs region starts with one slot for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct InputSlot {
    /// The harness buffer.
    pub buffer: Span,
    /// Standard input.
    pub stdin: Span,
    /// Arguments after the program's name, then `NAME=value` entries, each ended by a zero byte.
    pub strings: Span,
    /// How many of the strings are arguments.
    pub n_arguments: u32,
    /// How many of the strings are environment variables.
    pub n_variables: u32,
    /// Delivered items, as [`crate::delivery`] writes them; starts at a multiple of 8.
    pub delivery: Span,
    /// New contents of files that lie in the scratch folder already: [`FileSlot`]s; starts at a multiple of 8.
    pub files: Span,
    /// In a mutant view, the selector of the active mutant or the observed patch; 0 for none.
    pub selector: u32,
    /// In a mutant view, 1 if every function runs its examined body.
    pub examines: u32,
    /// In a symbolic view, the files of the input, as [`crate::symbolic::sources`] writes them.
    pub sources: Span,
}

const _: () = assert!(size_of::<InputSlot>() == 64);

/// New content for a regular file of the scratch folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FileSlot {
    /// Its path relative to the scratch folder, ended by a zero byte.
    pub path: Span,
    /// What it holds.
    pub content: Span,
    /// Access and modification time in seconds since the epoch.
    pub times: [i64; 2],
}

const _: () = assert!(size_of::<FileSlot>() == 32);

/// How a run in a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum RunEnd {
    /// Not at all: the slot was not written.
    None = 0,
    /// The harness returned `value`.
    Returned = 1,
    /// The program ended with status `value`.
    Exited = 2,
    /// The runtime ended the run; `ended_by` says why.
    Runtime = 3,
    /// The run needs a process of its own: it made the system call `value`, which cannot be undone.
    NeedsFork = 4,
    /// The process could not be restored after this run, and is replaced. The run needs a process of its own.
    Ruined = 5,
    /// The program died of the signal `value`.
    Signalled = 6,
    /// The program waits for another thread, and there is none.
    Waiting = 7,
}

impl RunEnd {
    /// Reads an end written by the target; unknown numbers are no end.
    pub fn from_target(number: u32) -> Self {
        match number {
            1 => Self::Returned,
            2 => Self::Exited,
            3 => Self::Runtime,
            4 => Self::NeedsFork,
            5 => Self::Ruined,
            6 => Self::Signalled,
            7 => Self::Waiting,
            _ => Self::None,
        }
    }
}

/// Facts about a run; bits of [`ResultSlot::flags`].
pub mod flags {
    /// The run reached something the baseline lacks.
    pub const NEW: u32 = 1;
    /// Something in the scratch folder changed.
    pub const FILES_CHANGED: u32 = 2;
    /// The batch ends with this run, although inputs may be left: post the rest again.
    pub const LAST: u32 = 4;
    /// The runner leaves after this run.
    pub const LEAVES: u32 = 8;
    /// The captured region is full: what was wanted of this run was not kept. Run it again in another batch.
    pub const NOT_KEPT: u32 = 16;
}

/// What one run left. Written when it is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ResultSlot {
    /// The number of the run.
    pub run: u64,
    /// A [`RunEnd`] as a number.
    pub end: u32,
    /// What the harness returned, the exit status, or the system call.
    pub value: i32,
    /// Bits of [`flags`].
    pub flags: u32,
    /// Counters that were hit in a way the baseline lacks.
    pub n_new: u32,
    /// A [`crate::channel::Stage`] as a number.
    pub stage: u32,
    /// A [`crate::channel::EndedBy`] as a number.
    pub ended_by: u32,
    /// Fuel the run used.
    pub fuel_used: u64,
    /// The path hash, 0 in views that keep none.
    pub path_hash: u64,
    /// A copy of the counters in the captured region; empty when not wanted.
    pub counters: Span,
    /// Standard output in the captured region, cut at the channel's output size.
    pub stdout: Span,
    /// Standard error, likewise.
    pub stderr: Span,
    /// Harness output, likewise.
    pub output: Span,
    /// How much was written in all to standard output, standard error, and by the harness.
    pub totals: [u64; 3],
    /// How often the run opened what `/proc` shows of processes, where it sees a runner instead of itself.
    pub n_looks_at_itself: u64,
    /// What the harness returned, valid at stage `HarnessReturned` however the process ended.
    pub harness_return: i32,
    /// For later versions; keeps a slot two cache lines long.
    pub reserved: u32,
    /// See [`ResultSlot::checksum_of`].
    pub checksum: u64,
}

const _: () = assert!(size_of::<ResultSlot>() == 128);

impl ResultSlot {
    /// The checksum of a slot's fields and of what it keeps in the captured region.
    pub fn checksum_of(&self, captured: &[u8]) -> u64 {
        let mut hash = Mix(self.run ^ 0x6361_6972_6e5f_7275);
        hash.add(u64::from(self.end) << 32 | u64::from(self.value as u32));
        hash.add(u64::from(self.flags) << 32 | u64::from(self.n_new));
        hash.add(u64::from(self.stage) << 32 | u64::from(self.ended_by));
        hash.add(self.fuel_used);
        hash.add(self.path_hash);
        for span in [self.counters, self.stdout, self.stderr, self.output] {
            hash.add(u64::from(span.offset) << 32 | u64::from(span.length));
            if span.length > 0
                && let Some(bytes) = captured.get(span.offset as usize..)
                && let Some(bytes) = bytes.get(..span.length as usize)
            {
                hash.add_bytes(bytes);
            }
        }
        for total in self.totals {
            hash.add(total);
        }
        hash.add(self.n_looks_at_itself);
        hash.add(u64::from(self.harness_return as u32));
        hash.0
    }

    /// Whether this is the untouched result of `run`.
    pub fn is_whole(&self, run: u64, captured: &[u8]) -> bool {
        self.run == run && self.checksum == self.checksum_of(captured)
    }
}

/// A quick hash against accidents, not against malice.
struct Mix(u64);

impl Mix {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in words.by_ref() {
            let mut eight = [0; 8];
            eight.copy_from_slice(word);
            self.add(u64::from_le_bytes(eight));
        }
        let mut rest = [0; 8];
        rest[..words.remainder().len()].copy_from_slice(words.remainder());
        self.add(u64::from_le_bytes(rest));
    }
}

/// The class of a hit count, as one bit: 1, 2, 3, 4–7, 8–15, 16–31, 32–127, 128 and more. 0 for no hit.
///
/// A baseline holds, for each counter, the bits of the classes seen before.
pub const fn class(count: u8) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        _ => 128,
    }
}

/// Counters hit in a class the baseline lacks. It may be longer than they are.
pub fn n_new(counters: &[u8], baseline: &[u8]) -> u32 {
    let mut n = 0;
    // Cut to the same length, both leave rests of the same length.
    let baseline = &baseline[..counters.len().min(baseline.len())];
    let (counter_words, counter_rest) = counters.as_chunks::<8>();
    let (baseline_words, baseline_rest) = baseline.as_chunks::<8>();
    for (counts, seen) in counter_words.iter().zip(baseline_words) {
        if u64::from_ne_bytes(*counts) != 0 {
            n += n_new_bytes(counts, seen);
        }
    }
    n + n_new_bytes(counter_rest, baseline_rest)
}

/// [`class`] of every count: most runs look up thousands.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut count = 0;
    while count < classes.len() {
        classes[count] = class(count as u8);
        count += 1;
    }
    classes
};

fn n_new_bytes(counters: &[u8], baseline: &[u8]) -> u32 {
    let is_new = |(count, seen): (&u8, &u8)| u32::from(CLASSES[usize::from(*count)] & !seen != 0);
    counters.iter().zip(baseline).map(is_new).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_result_is_noticed() {
        let captured = *b"out and err";
        let mut slot =
            ResultSlot { run: 7, end: 2, stdout: Span { offset: 0, length: 3 }, ..Default::default() };
        slot.checksum = slot.checksum_of(&captured);
        assert!(slot.is_whole(7, &captured));
        assert!(!slot.is_whole(8, &captured));
        assert!(!slot.is_whole(7, b"oot and err"));
        assert!(!ResultSlot { value: 1, ..slot }.is_whole(7, &captured));
        assert!(!ResultSlot { stdout: Span { offset: 9, length: u32::MAX }, ..slot }.is_whole(7, &captured));
        assert!(!ResultSlot::default().is_whole(0, &captured));
    }

    #[test]
    fn novelty_is_a_new_counter_or_a_new_class() {
        let baseline = [class(1), 0, 0xff, class(4), 0, 0, 0, 0, class(200)];
        assert_eq!(n_new(&[1, 0, 9, 7, 0, 0, 0, 0, 255], &baseline), 0);
        assert_eq!(n_new(&[2, 0, 9, 7, 0, 0, 0, 0, 255], &baseline), 1);
        assert_eq!(n_new(&[0, 1, 0, 8, 0, 0, 0, 0, 1], &baseline), 3);
    }

    #[test]
    fn a_baseline_may_be_longer_than_the_counters() {
        let baseline = [0; 16];
        assert_eq!(n_new(&[0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1], &baseline), 3);
    }
}
