//! Harness buffers, written straight into shared memory and judged without allocating.

use super::{
    config::Wants,
    handle::Session,
    job::Job,
    outcome, pack,
    sort_out::{Taken, sort_out},
    why::WhyFresh,
};
use crate::error::ExecutorError;
use cairn_abi::session::{BatchKind, ResultSlot, Span};
use cairn_model::{Ending, Input, input::Bytes};
use std::ops::Range;

/// Buffers that wait to be run.
#[derive(Debug)]
pub struct BufferBatch<'a> {
    session: &'a mut Session,
}

/// How the run of a buffer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferEnd {
    /// The harness returned this, and the process left in peace.
    Returned(i32),
    /// The process ended first, or was ended, be it after the harness had returned.
    Ended(Ending),
}

impl BufferEnd {
    fn new(ending: Ending, harness_return: Option<i32>) -> Self {
        match (harness_return, ending) {
            (Some(value), Ending::Exited { .. }) => Self::Returned(value),
            (_, ending) => Self::Ended(ending),
        }
    }
}

/// What the run of a buffer left.
#[derive(Clone, Debug)]
pub struct BufferRun<'a> {
    /// How it ended.
    pub end: BufferEnd,
    /// Counters hit in a way the baseline lacks.
    pub n_new: u32,
    /// Steps it took.
    pub fuel_used: u64,
    /// The counters, if they were wanted.
    pub counters: Option<&'a [u8]>,
}

/// Runs in the order of their buffers, one for each.
#[derive(Debug)]
pub struct BufferRuns<'a> {
    session: &'a Session,
    next: usize,
}

/// What is remembered of a batch of buffers.
#[derive(Debug, Default)]
pub(super) struct Records {
    records: Vec<Record>,
    /// Counters of runs whose place in the captured region was needed again.
    kept: Vec<u8>,
}

#[derive(Debug)]
struct Record {
    end: BufferEnd,
    n_new: u32,
    fuel_used: u64,
    counters: Counters,
}

#[derive(Debug)]
enum Counters {
    Unwanted,
    Captured(Span),
    Kept(Range<usize>),
}

impl Session {
    /// Starts a batch of harness buffers.
    pub fn buffers(&mut self) -> BufferBatch<'_> {
        self.pack.clear();
        BufferBatch { session: self }
    }
}

impl<'a> BufferBatch<'a> {
    /// Adds a buffer; `false` if the batch is full and is to be run first, or the buffer is too large for any.
    pub fn push(&mut self, buffer: &[u8]) -> bool {
        self.push_with(buffer.len(), |bytes| bytes.copy_from_slice(buffer))
    }

    /// Adds a buffer of `length` bytes, which `write` fills; it finds whatever lay there before.
    pub fn push_with(&mut self, length: usize, write: impl FnOnce(&mut [u8])) -> bool {
        let Session { pack, live, .. } = &mut *self.session;
        pack.push_buffer(live.channel.inputs(), length, write)
    }

    /// How many buffers wait.
    pub fn len(&self) -> usize {
        self.session.pack.n_inputs()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs the buffers. What they write is not kept; of `wants` only the counters count.
    pub fn run(self, wants: Wants) -> Result<BufferRuns<'a>, ExecutorError> {
        let wants = Wants { output: false, ..wants };
        let session = self.session;
        session.buffer_runs.clear();
        while session.pack.n_inputs() > 0 {
            if !session.is_ready()? {
                session.run_first_fresh(wants, WhyFresh::NoSession)?;
                session.drop_first(1);
                continue;
            }
            session.live.scratch.refresh(&[])?;
            session.post_buffers(wants)?;
        }
        Ok(BufferRuns { session, next: 0 })
    }
}

impl Session {
    fn post_buffers(&mut self, wants: Wants) -> Result<(), ExecutorError> {
        self.buffer_runs.keep(&self.live.channel);
        let n_inputs = self.pack.n_inputs();
        let posted = self.live.post(BatchKind::Inputs, n_inputs, wants.bits(), self.config.run.fuel)?;
        self.counts.n_batches += 1;
        let mut taken = std::mem::take(&mut self.taken);
        sort_out(&mut self.live, &self.config.run, n_inputs, &posted, &mut taken)?;
        let mut n_finished = 0;
        for (index, entry) in taken.drain(..).enumerate() {
            if entry.has_changed_files() {
                self.live.scratch.mark_changed();
            }
            match entry {
                Taken::Result(slot) => {
                    self.note_live(&outcome::ending(&slot));
                    self.buffer_runs.records.push(Record::of_result(&slot));
                }
                Taken::Ended(ending) => {
                    self.note_live(&ending);
                    self.live.scratch.mark_changed();
                    self.note_remains(ending, wants);
                }
                Taken::Fresh(why) => {
                    self.live.scratch.mark_changed();
                    self.run_one_fresh(index, wants, why)?;
                }
                // It and what follows it are posted again, in order.
                Taken::Again => break,
            }
            n_finished = index + 1;
        }
        self.taken = taken;
        self.drop_first(n_finished);
        Ok(())
    }

    fn note_remains(&mut self, ending: Ending, wants: Wants) {
        let channel = &self.live.channel;
        let n_new = cairn_abi::session::n_new(channel.counters(), channel.baseline());
        let counters = match wants.counters_of(n_new, &ending) {
            true => self.buffer_runs.keep_bytes(channel.counters()),
            false => Counters::Unwanted,
        };
        let fuel_used = channel.fuel_used(self.config.run.fuel);
        self.buffer_runs.records.push(Record { end: BufferEnd::Ended(ending), n_new, fuel_used, counters });
    }

    fn run_first_fresh(&mut self, wants: Wants, why: WhyFresh) -> Result<(), ExecutorError> {
        self.run_one_fresh(0, wants, why)
    }

    fn run_one_fresh(&mut self, index: usize, wants: Wants, why: WhyFresh) -> Result<(), ExecutorError> {
        let span = pack::buffer_at(self.live.channel.inputs(), index);
        let buffer = Bytes(self.live.channel.input_bytes(span).to_vec());
        let input = Input { buffer: Some(buffer), ..Input::default() };
        let run = self.fresh(&Job::original(&input), wants, why)?;
        let counters = match wants.counters_of(run.n_new, &run.execution.outcome.ending) {
            true => self.buffer_runs.keep_bytes(&run.execution.counters),
            false => Counters::Unwanted,
        };
        let end = BufferEnd::new(run.execution.outcome.ending, run.execution.outcome.harness_return);
        let (n_new, fuel_used) = (run.n_new, run.execution.fuel_used);
        self.buffer_runs.records.push(Record { end, n_new, fuel_used, counters });
        Ok(())
    }

    fn drop_first(&mut self, n: usize) {
        self.pack.drop_first(self.live.channel.inputs(), n);
    }
}

impl Record {
    fn of_result(slot: &ResultSlot) -> Self {
        let end = BufferEnd::new(outcome::ending(slot), outcome::harness_return(slot));
        let counters = match slot.counters.length {
            0 => Counters::Unwanted,
            _ => Counters::Captured(slot.counters),
        };
        Self { end, n_new: slot.n_new, fuel_used: slot.fuel_used, counters }
    }
}

impl Records {
    fn clear(&mut self) {
        self.records.clear();
        self.kept.clear();
    }

    /// Copies counters that lie in the captured region, which the next batch overwrites.
    fn keep(&mut self, channel: &crate::channel::Channel) {
        for index in 0..self.records.len() {
            if let Counters::Captured(span) = self.records[index].counters {
                self.records[index].counters = self.keep_bytes(outcome::bytes(channel, span));
            }
        }
    }

    fn keep_bytes(&mut self, bytes: &[u8]) -> Counters {
        let start = self.kept.len();
        self.kept.extend_from_slice(bytes);
        Counters::Kept(start..self.kept.len())
    }
}

impl<'a> Iterator for BufferRuns<'a> {
    type Item = BufferRun<'a>;

    fn next(&mut self) -> Option<BufferRun<'a>> {
        let session = self.session;
        let record = session.buffer_runs.records.get(self.next)?;
        self.next += 1;
        Some(BufferRun {
            end: record.end.clone(),
            n_new: record.n_new,
            fuel_used: record.fuel_used,
            counters: match &record.counters {
                Counters::Unwanted => None,
                Counters::Captured(span) => Some(outcome::bytes(&session.live.channel, *span)),
                Counters::Kept(range) => Some(&session.buffer_runs.kept[range.clone()]),
            },
        })
    }
}
