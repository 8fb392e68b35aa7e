//! Many symbolic runs in one process.
//!
//! A session restores the program's memory, and with it what the runtime keeps there: the state of calls, the places of
//! tables and files, whether the trace was cut. What is left is done here. The shadow and the lists of nodes are far too
//! large to be copied; nodes and records lie in the channel, where the host reads them after the run.

use super::{frames, nodes, written};
use crate::{channel::Channel, counters};
use cairn_abi::{
    channel::ChannelHeader,
    symbolic::{SHADOW_BASE, SHADOW_SIZE, SymbolicHead},
    view::ViewKind,
};
use core::sync::atomic::Ordering;

/// What the runs of a session start from.
#[derive(Clone, Copy)]
pub struct Renewal {
    head: *mut SymbolicHead,
    header: &'static ChannelHeader,
    /// Records of what ran before `main`, which all runs have in common.
    n_records: u64,
    /// The nodes there were, which are none but the unused one.
    n_nodes: u32,
    /// Why the trace ended there, if it did.
    cut: u32,
}

impl Renewal {
    /// `None` where no labels are asked for. To be called before `main`.
    pub fn find(channel: Channel) -> Option<Self> {
        let head = super::head()?;
        let header = channel.header();
        let n_records = header.trace_committed.load(Ordering::Relaxed);
        let [n_nodes, cut] = [&head.n_nodes, &head.cut].map(|number| number.load(Ordering::Relaxed));
        written::begin().then_some(Self {
            head: (&raw const *head).cast_mut(),
            header,
            n_records,
            n_nodes,
            cut,
        })
    }

    /// Forgets the last run. `run` is the number of the next, which no other in this process has, and not 0.
    pub fn begin(&self, run: u32) {
        written::clear(run);
        // SAFETY: the head is a part of the channel, which stays mapped; zeros are what it starts with.
        unsafe {
            self.head.write_bytes(0, 1);
            (*self.head).n_nodes.store(self.n_nodes, Ordering::Relaxed);
            (*self.head).cut.store(self.cut, Ordering::Relaxed);
        }
        self.header.trace_committed.store(self.n_records, Ordering::Relaxed);
        self.header.trace_dropped.store(0, Ordering::Relaxed);
        nodes::begin_run(run);
    }
}

/// Whether what ran before `main` has depended on the input. Then every run would need its own.
pub fn is_too_late() -> bool {
    !nodes::is_empty()
}

/// Whether memory between these addresses is ours and not restored, but renewed.
pub fn hold(start: usize, end: usize) -> bool {
    let is_symbolic = counters::view().kind == ViewKind::Symbolic as u32;
    let meets = |from: u64, size: u64| (from as usize) < end && start < (from + size) as usize;
    let holders = [nodes::hold, written::hold, frames::hold];
    is_symbolic && (meets(SHADOW_BASE, SHADOW_SIZE) || holders.iter().any(|hold| hold(start, end)))
}
