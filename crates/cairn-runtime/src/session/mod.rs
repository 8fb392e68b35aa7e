//! Many inputs in one process: the target's side of [`cairn_abi::session`].
//!
//! Instead of calling `main` the process becomes a [`template`] that forks *runners*. A [`runner`] works off batches: it
//! readies an [`input`], switches ([`switch`]) from its own stack to the program's and calls `main` or the harness, and comes
//! back when the program leaves; or it has the harness [`change`] a buffer itself. How it leaves does not matter: a [`filter`] makes the kernel stop every `exit`
//! and every system call that could not be undone, and [`trap`] switches back to the runner. Then the [`snapshot`] is
//! put back: memory, mappings, descriptors, signals.
//!
//! Signals that a program dies of by its own fault arrive in [`crash`], which switches back too; the program is told that
//! nothing is installed. All others kill the runner as they would kill the program. The template sees it and tells the host.
//!
//! What a runner needs lies in its [`vault`], far from the program's memory, and its own system calls are known to the
//! filter by where they are made. The rest is checked afterwards: results carry a checksum, the size of the address space must
//! be what it was, and a runner in doubt is replaced.

mod before_main;
mod change;
mod crash;
mod filter;
mod futex;
mod input;
pub(crate) mod maps;
mod own_maps;
mod report;
mod runner;
mod snapshot;
mod switch;
mod template;
mod trap;
mod vault;
mod watch;

pub use self::{template::serve, trap::end_run};

use crate::{
    channel::Channel, harness::Harness, mutants::Switches, program::Main, symbolic::renewal::Renewal, system,
};
use cairn_abi::{
    channel::{ChannelHeader, PAGE, Region},
    counters::COUNTERS_START,
    session::{InputSlot, ResultSlot, SessionBoard},
};
use core::ptr;

/// Notes memory that the runtime itself has mapped during a run, and that goes with it.
pub fn note_mapping(start: *mut u8, size: usize) {
    if let Some(vault) = vault::vault() {
        // With too many to be noted the address space is found to have grown, and the runner is replaced.
        vault.snapshot.add(start.addr(), size);
    }
}

/// What a run calls.
#[derive(Clone, Copy)]
pub enum Entry {
    /// The program's `main`; every run finds the same `argv[0]`.
    Main {
        /// The arguments of this process, where the kernel laid them out, or null.
        start: *const usize,
        /// Its `main`.
        main: Main,
    },
    /// A harness.
    Harness(Harness),
}

/// Where the parts of the channel lie, read once while nothing of the program has run that could change them.
#[derive(Clone, Copy)]
struct Regions {
    header: &'static ChannelHeader,
    /// All of it.
    channel: Part,
    board: &'static SessionBoard,
    inputs: Part,
    baseline: Part,
    results: Part,
    captured: Part,
    /// The counters alone, as the view sees them.
    counters: Part,
    /// What the counters were before the first run: constructors have counted already.
    counters_at_start: Part,
    path_hash_at_start: u64,
    fuel: *mut u64,
    /// Who the template is. A run is told that it is the same: a fresh process would be.
    process: i32,
    parent: i32,
    /// How much is kept of each output.
    output: Part,
    /// In a mutant view, what chooses a mutant.
    mutants: Option<Switches>,
    /// In a symbolic view, what makes every run the first, if labels are wanted.
    symbolic: Option<Renewal>,
}

/// A piece of memory.
#[derive(Clone, Copy)]
struct Part {
    start: *mut u8,
    size: usize,
}

impl Part {
    const NONE: Self = Self { start: ptr::null_mut(), size: 0 };

    /// The bytes.
    ///
    /// # Safety
    /// Nothing writes them while the result lives.
    unsafe fn bytes(&self) -> &'static [u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: parts of the channel stay mapped; the caller vouches for the rest.
        unsafe { core::slice::from_raw_parts(self.start, self.size) }
    }
}

/// A copy nobody can write.
fn copy_of(part: Part) -> Option<Part> {
    let size = (part.size + 1).next_multiple_of(PAGE);
    let start = system::map_private(size)?;
    // SAFETY: the new memory is as large.
    unsafe {
        start.copy_from_nonoverlapping(part.start, part.size);
        system::make_read_only(start, size);
    }
    Some(Part { start, size: part.size })
}

impl Regions {
    /// Whether the host wants a session.
    fn are_wanted(channel: Channel) -> bool {
        channel.region(channel.header().session).is_some()
    }

    /// `None` when the host wants no session, or gives it less than it needs.
    fn find(channel: Channel) -> Option<Self> {
        let header = channel.header();
        let part =
            |region: Region| channel.region(region).map_or(Part::NONE, |(start, size)| Part { start, size });
        let board = part(header.session);
        let (inputs, results) = (part(header.inputs), part(header.results));
        if board.size < PAGE || inputs.size < PAGE || results.size < PAGE {
            return None;
        }
        let whole = channel.whole();
        let view = crate::counters::view();
        let counters = match part(header.counters).size {
            0 => Part::NONE,
            // SAFETY: the counters follow their head.
            _ => Part { start: unsafe { view.counters.add(COUNTERS_START) }, size: view.n_counters as usize },
        };
        Some(Self {
            header,
            channel: Part { start: whole.0, size: whole.1 },
            // SAFETY: a whole page of shared memory, of which only atomics are used.
            board: unsafe { &*board.start.cast::<SessionBoard>() },
            inputs,
            baseline: part(header.baseline),
            results,
            captured: part(header.captured),
            counters,
            counters_at_start: copy_of(counters)?,
            path_hash_at_start: crate::counters::path_hash(),
            fuel: view.fuel,
            process: system::process_id(),
            parent: system::parent_id(),
            output: part(header.output),
            mutants: Switches::find(),
            symbolic: Renewal::find(channel),
        })
    }

    /// How many inputs a batch can have.
    fn capacity(&self) -> usize {
        (self.inputs.size / size_of::<InputSlot>()).min(self.results.size / size_of::<ResultSlot>())
    }
}
