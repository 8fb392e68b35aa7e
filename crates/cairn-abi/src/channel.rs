//! The memory shared by one run and the host.
//!
//! ```text
//!   page 0     ChannelHeader
//!   fuel       one page, laid over the view's fuel by the runtime
//!   counters   one CounterBlock, laid over the view's own pages by the runtime
//!   delivery   what the input gives by name (see `delivery`)
//!   output     what a harness passed to cairn_output
//!   trace      records (see `record`)
//!
//!   and for a session (see `session`):
//!   session    one page, the SessionBoard
//!   inputs     one InputSlot an input, then what they refer to
//!   baseline   what was seen before, one byte a counter
//!   results    one ResultSlot an input
//!   captured   what results refer to
//!
//!   and for a mutant view (see `mutants`):
//!   control    which mutant is active, and which body of each function
//!   infections what was executed, and which mutants differed
//!   values     what was observed
//!
//!   and for a symbolic view (see `symbolic`):
//!   symbolic   one page, the SymbolicHead
//!   sources    which files are parts of the input
//!   nodes      what values are made of
//!   tables     constant tables that nodes refer to
//!   sites      what is asked about expressions of the program
//!
//!   and for a run that tells where it fails (see `stack`):
//!   stack      registers, mappings and stacks
//! ```
//! Every region starts on a page. The host writes all offsets and sizes before the run and never reads them back.

use core::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64};

/// The descriptor on which a run finds its channel. High, so that targets do not meet it by accident.
///
/// A descriptor rather than an environment variable: the target's environment stays exactly the input's.
pub const CHANNEL_FD: i32 = 190;

/// The first eight bytes of a channel.
pub const CHANNEL_MAGIC: u64 = u64::from_le_bytes(*b"cairnchn");

/// Regions start at multiples of this.
pub const PAGE: usize = 4096;

/// A part of the channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Region {
    /// From the start of the channel, a multiple of [`PAGE`].
    pub offset: u64,
    /// In bytes, a multiple of [`PAGE`]; 0 when absent.
    pub size: u64,
}

/// The first page of a channel.
#[repr(C)]
pub struct ChannelHeader {
    /// [`CHANNEL_MAGIC`].
    pub magic: u64,
    /// [`crate::ABI_VERSION`] of the host.
    pub abi_version: u32,
    /// How much tracing the host asks for, a [`TraceLevel`] as a number.
    pub trace_level: u32,
    /// The view's counters.
    pub counters: Region,
    /// What the input delivers.
    pub delivery: Region,
    /// Bytes for harness output.
    pub output: Region,
    /// Trace records.
    pub trace: Region,
    /// Used bytes of the delivery region.
    pub delivery_length: u64,
    /// What is left of the run's fuel, in the first eight bytes; see [`crate::view::FUEL_SYMBOL`].
    pub fuel: Region,
    /// The session's board; absent when the process serves one run.
    pub session: Region,
    /// The inputs of a batch.
    pub inputs: Region,
    /// What was seen before: as many bytes as there are counters.
    pub baseline: Region,
    /// One [`crate::session::ResultSlot`] an input.
    pub results: Region,
    /// What results refer to.
    pub captured: Region,
    /// A [`crate::mutants::MutantControl`] and the body switches.
    pub control: Region,
    /// What an examining run notes.
    pub infections: Region,
    /// A [`crate::mutants::ValuesHead`] and observed values.
    pub values: Region,
    /// A [`crate::symbolic::SymbolicHead`]; absent where the run is not symbolic.
    pub symbolic: Region,
    /// Files of the input, as [`crate::symbolic::sources`] writes them.
    pub sources: Region,
    /// [`crate::symbolic::Node`]s.
    pub nodes: Region,
    /// Constant tables, as [`crate::symbolic::TableHead`] describes them.
    pub tables: Region,
    /// A [`crate::symbolic::sites::SiteControl`] and switches; absent where nothing is asked about sites.
    pub sites: Region,
    /// A [`crate::stack::StackHead`] and what follows it; absent where nobody asks.
    pub stack: Region,
    /// What the process is for, a [`Task`] as a number.
    pub task: u32,
    /// Keeps what follows apart from what the host writes.
    pub reserved: u32,

    // From here on the target writes.
    /// How far the run came, a [`Stage`] as a number.
    pub stage: AtomicU32,
    /// Why the runtime ended the run, an [`EndedBy`] as a number.
    pub ended_by: AtomicU32,
    /// What the harness returned, valid at [`Stage::HarnessReturned`].
    pub harness_return: AtomicI32,
    /// Set by the runtime when the view does not fit the channel, a [`Refusal`] as a number.
    pub refusal: AtomicU32,
    /// Bytes the harness passed to `cairn_output`, also those that did not fit.
    pub output_total: AtomicU64,
    /// Records committed to the trace region.
    pub trace_committed: AtomicU64,
    /// Records that did not fit.
    pub trace_dropped: AtomicU64,
    /// The name of a variable that the program asked for and the input did not have, cut off, and zero bytes after it. The first one
    /// stays until the channel is made ready for another run: it is there to be told once.
    pub missing: [AtomicU8; MISSING_NAME],
}

/// Bytes of the name of a variable that is missing.
pub const MISSING_NAME: usize = 64;

const _: () = assert!(size_of::<ChannelHeader>() <= PAGE);

/// What a process is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Task {
    /// It runs the program.
    #[default]
    Run = 0,
    /// Instead of `main` it calls the program's `cairn_compare` on the delivered variables [`COMPARED`]; what that
    /// returns is the harness return.
    Compare = 1,
}

/// The names under which `cairn_compare` is given what the original wrote, and what the mutant did.
pub const COMPARED: [&str; 2] = ["cairn.original", "cairn.mutant"];

/// How much a run records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum TraceLevel {
    /// Counters only.
    #[default]
    None = 0,
    /// Symbolic conditionals only.
    Symbolic = 1,
    /// All conditionals.
    All = 2,
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Stage {
    /// The runtime was not reached.
    Nothing = 0,
    /// The runtime mapped the channel.
    RuntimeStarted = 1,
    /// `main` was entered.
    MainEntered = 2,
    /// The harness function returned.
    HarnessReturned = 3,
}

impl Stage {
    /// Reads a stage written by the target; unknown numbers are the nearest lower stage.
    pub fn from_target(number: u32) -> Self {
        match number {
            0 => Self::Nothing,
            1 => Self::RuntimeStarted,
            2 => Self::MainEntered,
            _ => Self::HarnessReturned,
        }
    }
}

/// Why the runtime itself ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum EndedBy {
    /// It did not.
    Program = 0,
    /// An assumption was false.
    Assumption = 1,
    /// A guidepost was broken.
    Guidepost = 2,
    /// A variable was asked for with another type or size than it was delivered with.
    Delivery = 3,
    /// The fuel was used up.
    Fuel = 4,
}

impl EndedBy {
    /// Reads a reason written by the target; unknown numbers mean the program.
    pub fn from_target(number: u32) -> Self {
        match number {
            1 => Self::Assumption,
            2 => Self::Guidepost,
            3 => Self::Delivery,
            4 => Self::Fuel,
            _ => Self::Program,
        }
    }
}

/// The exit status the runtime uses when it ends a run itself; `ended_by` says why.
pub const RUNTIME_EXIT_CODE: i32 = 121;

/// Why the runtime refused a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Refusal {
    /// It did not.
    None = 0,
    /// The host speaks another ABI version.
    Version = 1,
    /// The counter region does not have the view's size.
    Counters = 2,
    /// The regions for mutants do not have the view's sizes.
    Mutants = 3,
    /// The program has no `cairn_compare`.
    Compare = 4,
    /// There is no room for the shadow of a symbolic run.
    Shadow = 5,
    /// The region for sites does not have the view's size.
    Sites = 6,
}

impl Refusal {
    /// Reads a refusal written by the target; unknown numbers are none.
    pub fn from_target(number: u32) -> Self {
        match number {
            1 => Self::Version,
            2 => Self::Counters,
            3 => Self::Mutants,
            4 => Self::Compare,
            5 => Self::Shadow,
            6 => Self::Sites,
            _ => Self::None,
        }
    }
}
