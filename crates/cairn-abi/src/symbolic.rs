//! How a symbolic run tells what its values are made of.
//!
//! Every value that depends on the input has a *label*, the number of a [`Node`] in one flat table in shared memory; label 0
//! is concrete. A node names an [`Op`], the labels of its operands, its width, and the value it has in this run, so the
//! host reads expressions without a copy and can check each of them. Operands always have smaller labels.
//!
//! Memory has a *shadow*: for every byte a 32-bit [`ShadowByte`], the label of a value and which of its bytes lies there.
//!
//! Leaves are parts of the input: [`Op::Input`] names a [`RegionId`], an offset and, by its width, a number of bytes.

pub mod intrinsic;
mod op;
mod shadow;
pub mod sites;
pub mod sources;
pub mod state;
pub mod switch;

pub use op::{MathFunction, Op};
pub use shadow::{SHADOW_BASE, SHADOW_MASK, SHADOW_SIZE, ShadowByte, shadow_address};

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// One node of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Node {
    /// An [`Op`] as a number.
    pub op: u8,
    /// For the runtime's own use.
    pub noted: u8,
    /// The width of the value in bits, 1 to 128.
    pub width: u16,
    /// The first operand, or what the operation says.
    pub a: u32,
    /// The second operand, or what the operation says.
    pub b: u32,
    /// The third operand, or what the operation says.
    pub c: u32,
    /// The value in this run: its lowest 64 bits, zero-extended.
    pub value: u64,
    /// The hash of the operation, width and operands; and of the value where it is part of the meaning.
    pub hash: u32,
    /// The next node with the same hash, for the runtime's own use.
    pub next: u32,
}

const _: () = assert!(size_of::<Node>() == NODE_SIZE);

/// The size of a [`Node`].
pub const NODE_SIZE: usize = 32;

/// Labels are smaller than this, so that a [`ShadowByte`] has room for the number of a byte.
pub const MAX_LABELS: u32 = 1 << 29;

/// A part of an input that bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId(pub u32);

/// Kinds of regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum RegionKind {
    /// Standard input.
    Stdin = 0,
    /// The buffer of a harness.
    Buffer = 1,
    /// An argument, counted from 0 without the program's name. Its terminating zero is part of the region: another value
    /// there makes the argument longer.
    Argument = 2,
    /// An entry `NAME=value` of the environment, in the order of the input, with its terminating zero.
    Environment = 3,
    /// The content of a file, in the order of the input's regular files.
    File = 4,
    /// A typed variable, in the order of delivery.
    Variable = 5,
    /// What `stat` tells of a file, in the order of the input's files of all kinds; fields at the offsets of [`metadata`].
    FileMetadata = 6,
    /// What `stat` tells of standard input; only [`metadata::SIZE`] is used.
    StdinMetadata = 7,
    /// The length of the harness buffer, at [`metadata::SIZE`].
    BufferMetadata = 8,
    /// How many arguments there are, without the program's name, at [`metadata::SIZE`].
    ArgumentsMetadata = 9,
}

/// Where fields lie in the metadata regions.
pub mod metadata {
    /// The size, 8 bytes.
    pub const SIZE: u32 = 0;
    /// Type and permissions as in `st_mode`, 4 bytes.
    pub const MODE: u32 = 8;
    /// Number of hard links, 8 bytes.
    pub const LINKS: u32 = 16;
    /// Owner, 4 bytes.
    pub const USER: u32 = 24;
    /// Group, 4 bytes.
    pub const GROUP: u32 = 28;
    /// Seconds of the modification time, 8 bytes.
    pub const MODIFIED: u32 = 32;
    /// Seconds of the access time, 8 bytes.
    pub const ACCESSED: u32 = 40;
}

impl RegionId {
    const INDEX_BITS: u32 = 24;

    /// The `index`-th region of a kind.
    pub const fn new(kind: RegionKind, index: u32) -> Self {
        assert!(index < 1 << Self::INDEX_BITS);
        Self((kind as u32) << Self::INDEX_BITS | index)
    }

    /// Its kind, unless the number makes no sense.
    pub const fn kind(self) -> Option<RegionKind> {
        Some(match self.0 >> Self::INDEX_BITS {
            0 => RegionKind::Stdin,
            1 => RegionKind::Buffer,
            2 => RegionKind::Argument,
            3 => RegionKind::Environment,
            4 => RegionKind::File,
            5 => RegionKind::Variable,
            6 => RegionKind::FileMetadata,
            7 => RegionKind::StdinMetadata,
            8 => RegionKind::BufferMetadata,
            9 => RegionKind::ArgumentsMetadata,
            _ => return None,
        })
    }

    /// Its number among those of its kind.
    pub const fn index(self) -> u32 {
        self.0 & ((1 << Self::INDEX_BITS) - 1)
    }
}

/// The first page of the symbolic region. Written by the target.
#[repr(C)]
pub struct SymbolicHead {
    /// Nodes in the table, with the unused node 0.
    pub n_nodes: AtomicU32,
    /// Why the trace ends before the run, a [`Cut`] as a number.
    pub cut: AtomicU32,
    /// Bytes used in the tables region.
    pub tables_used: AtomicU64,
    /// Values whose memory was overwritten by code that is not instrumented; their labels were dropped.
    pub n_stale: AtomicU64,
    /// Loads and stores whose address depended on the input and was taken as it was.
    pub n_concrete_addresses: AtomicU64,
    /// Functions that were given data of the input and are not followed; entries without a count are unused.
    pub unmodelled: [Unmodelled; MAX_UNMODELLED],
}

const _: () = assert!(size_of::<SymbolicHead>() <= crate::channel::PAGE);

/// Why a trace is shorter than its run. What is there is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Cut {
    /// It is not.
    None = 0,
    /// The table of nodes is full.
    Nodes = 1,
    /// The trace region is full.
    Records = 2,
    /// The program started a thread.
    Thread = 3,
    /// Writable mappings share a place in the shadow.
    Aliasing = 4,
    /// The program replaced itself by another.
    Exec = 5,
    /// A signal came by itself, and the program's handler did not return.
    Signal = 6,
}

impl Cut {
    /// Reads a reason written by the target; unknown numbers are the most cautious one.
    pub fn from_target(number: u32) -> Self {
        match number {
            0 => Self::None,
            1 => Self::Nodes,
            2 => Self::Records,
            3 => Self::Thread,
            5 => Self::Exec,
            6 => Self::Signal,
            _ => Self::Aliasing,
        }
    }
}

/// A constant table, in the tables region: this head, then its bytes, then zeros up to a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TableHead {
    /// Where the table lies in the target, which names it in a run.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
}

const _: () = assert!(size_of::<TableHead>() == 16);

/// A constant variable of a symbolic view.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ConstantTable {
    /// Where it lies.
    pub start: *const u8,
    /// Its size in bytes.
    pub size: u64,
}

/// The most different names of functions that are noted as not followed.
pub const MAX_UNMODELLED: usize = 31;

/// A function that was given data of the input and is not followed.
#[derive(Debug)]
#[repr(C)]
pub struct Unmodelled {
    /// How often.
    pub count: AtomicU64,
    /// The beginning of its name, ended by a zero byte where it is shorter. Those of C++ are long.
    pub name: [AtomicU8; 120],
}
