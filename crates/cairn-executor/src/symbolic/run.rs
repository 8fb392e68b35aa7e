//! What a symbolic run left.

use crate::{channel::Channel, executor::Execution, session::Ran};
use cairn_abi::{
    record::{self, BadRecord, RECORD_SIZE, Record},
    symbolic::{Cut, Node},
};

/// One run of a symbolic view.
#[derive(Clone, Debug)]
pub struct SymbolicRun {
    /// What the run did; its `trace` is empty, because it was read into `records`.
    pub execution: Execution,
    /// Where it was made.
    pub ran: Ran,
    /// The events of the run, in order, as far as the trace goes.
    pub records: Vec<Record>,
    /// What labels stand for, by label; the first is unused. Not checked.
    pub nodes: Vec<Node>,
    /// Constant tables that nodes refer to. Not checked.
    pub tables: Vec<u8>,
    /// Why the trace ends before the run, if it does.
    pub cut: Cut,
    /// What in the trace makes no sense, if something does: the records before it are those of `records`.
    pub damage: Option<BadTrace>,
    /// Values whose memory was overwritten by code that is not followed.
    pub n_stale: u64,
    /// Loads and stores whose address depended on the input and was taken as it was.
    pub n_concrete_addresses: u64,
    /// Functions that are not followed, and how often each was given data of the input.
    pub unmodelled: Vec<(String, u64)>,
}

/// Something that no runtime writes: the program wrote over its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {index} of the trace was overwritten: {bad}")]
pub struct BadTrace {
    /// The number of the record.
    pub index: usize,
    /// What lies there.
    pub bad: BadRecord,
}

impl SymbolicRun {
    /// Whether the trace tells of the whole run.
    pub fn is_whole(&self) -> bool {
        self.cut == Cut::None && self.damage.is_none()
    }
}

pub(super) fn collect(execution: Execution, ran: Ran, channel: &Channel) -> SymbolicRun {
    let (region, n_committed, n_dropped) = channel.trace();
    let n_at_most = region.len() / RECORD_SIZE;
    let mut records = Vec::with_capacity(n_at_most.min(usize::try_from(n_committed).unwrap_or(n_at_most)));
    let mut damage = None;
    for (index, record) in record::read(region, n_committed).enumerate() {
        match record {
            Ok(record) => records.push(record),
            Err(bad) => {
                damage = Some(BadTrace { index, bad });
                break;
            }
        }
    }
    let head = channel.symbolic_head();
    let cut = match head.cut {
        Cut::None if n_dropped > 0 => Cut::Records,
        cut => cut,
    };
    SymbolicRun {
        execution,
        ran,
        records,
        nodes: channel.nodes(head.n_nodes),
        tables: channel.tables(head.tables_used).to_vec(),
        cut,
        damage,
        n_stale: head.n_stale,
        n_concrete_addresses: head.n_concrete_addresses,
        unmodelled: head.unmodelled,
    }
}
