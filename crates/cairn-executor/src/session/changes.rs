//! Buffers that the harness of a session changes itself: `LLVMFuzzerCustomMutator` and `LLVMFuzzerCustomCrossOver`.
//!
//! These are functions of the target, so they are called where it runs, in batches, within all its limits. What they do
//! wrong is data: each change is bytes, or a [`ChangeFailure`].

use super::{
    handle::{Session, SessionMode},
    outcome,
    sort_out::{Taken, sort_out},
    why::WhyFresh,
};
use crate::error::ExecutorError;
use cairn_abi::{
    changes::{ChangeSlot, TOO_LARGE, changers},
    session::{BatchKind, ResultSlot, RunEnd, Span},
};
use cairn_model::Ending;
use std::ops::ControlFlow;

/// What the harness of a session can change itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changers {
    /// Whether it defines `LLVMFuzzerCustomMutator`.
    pub has_mutator: bool,
    /// Whether it defines `LLVMFuzzerCustomCrossOver`.
    pub has_cross_over: bool,
}

impl Changers {
    pub(super) fn from_target(bits: u32) -> Self {
        Self { has_mutator: bits & changers::MUTATOR != 0, has_cross_over: bits & changers::CROSS_OVER != 0 }
    }
}

/// A change that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// What is changed.
    pub data: &'a [u8],
    /// By which function of the harness.
    pub by: Changer<'a>,
    /// Where chance begins.
    pub seed: u32,
    /// The most bytes there may be afterwards; what is changed has no more.
    pub max_size: usize,
}

/// A function that changes buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changer<'a> {
    /// `LLVMFuzzerCustomMutator`, called so often, each time on what it has made.
    Mutator {
        /// How often.
        n_times: u32,
    },
    /// `LLVMFuzzerCustomCrossOver`.
    CrossOver {
        /// What the data is crossed with.
        other: &'a [u8],
    },
}

/// Why nothing came of a change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeFailure {
    /// The process ended, or was ended.
    #[error("{}", ended(.ending))]
    Ended {
        /// How.
        ending: Ending,
    },
    /// It says that it made more bytes than it may.
    #[error("it returned a larger size than it may")]
    TooLarge,
    /// It cannot be called in the session.
    #[error("it cannot be called in a live process: {why}")]
    NotLive {
        /// Why.
        why: WhyFresh,
    },
}

fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Signalled { signal } => format!("it died of signal {signal}"),
        Ending::TimedOut => "it took too long".into(),
        Ending::OutOfFuel => "it did not come to an end".into(),
        Ending::Exited { code } => format!("it ended the process with status {code}"),
        other => format!("it ended the process: {other:?}"),
    }
}

/// What came of a change.
type Made<'a> = Result<&'a [u8], ChangeFailure>;

/// Changes that wait to be made.
#[derive(Debug)]
pub struct ChangeBatch<'a> {
    session: &'a mut Session,
    words: Span,
}

impl Session {
    /// What the harness can change itself; nothing where there is no live process.
    pub fn changers(&self) -> Changers {
        match self.mode {
            SessionMode::Live(_) => self.live.changers(),
            SessionMode::Fresh { .. } => Changers::default(),
        }
    }

    /// Starts a batch of changes, in which `LLVMFuzzerMutate` may use these words. Those that are too long, or for which
    /// there is no room, are left out.
    pub fn changes<'w>(&mut self, words: impl IntoIterator<Item = &'w [u8]>) -> ChangeBatch<'_> {
        self.pack.clear();
        let words = self.pack.add_words(self.live.channel.inputs(), words);
        ChangeBatch { session: self, words }
    }
}

impl ChangeBatch<'_> {
    /// Adds a change; `false` if the batch is full and is to be made first, or the data is too large for any.
    pub fn push(&mut self, change: &Change<'_>) -> bool {
        let Change { data, by, seed, max_size } = *change;
        let (changer, n_times, other) = match by {
            Changer::Mutator { n_times } => (changers::MUTATOR, n_times, &[][..]),
            Changer::CrossOver { other } => (changers::CROSS_OVER, 1, other),
        };
        let Session { pack, live, .. } = &mut *self.session;
        let inputs = live.channel.inputs();
        // What is made takes as much room in the target as all inputs have here.
        let max_size = u32::try_from(max_size.min(inputs.len())).unwrap_or(u32::MAX);
        let slot =
            ChangeSlot { words: self.words, changer, n_times, seed, max_size, ..ChangeSlot::default() };
        data.len() <= max_size as usize && pack.push_change(inputs, slot, data, other)
    }

    /// How many changes wait.
    pub fn len(&self) -> usize {
        self.session.pack.n_inputs()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the changes and hands what comes of each to `take`, in order, until that has enough. No bytes mean that
    /// nothing was made.
    pub fn make(self, mut take: impl FnMut(Made<'_>) -> ControlFlow<()>) -> Result<(), ExecutorError> {
        let session = self.session;
        while session.pack.n_inputs() > 0 {
            let has_enough = match session.is_ready()? {
                true => session.post_changes(&mut take)?,
                false => {
                    session.pack.drop_first(session.live.channel.inputs(), 1);
                    take(Err(ChangeFailure::NotLive { why: WhyFresh::NoSession }))
                }
            };
            if has_enough.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Session {
    /// Posts the changes that wait, and drops those that are done with.
    fn post_changes(
        &mut self,
        take: &mut dyn FnMut(Made<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, ExecutorError> {
        self.live.scratch.refresh(&[])?;
        let n_changes = self.pack.n_inputs();
        let posted = self.live.post(BatchKind::Changes, n_changes, 0, self.config.run.fuel)?;
        self.counts.n_batches += 1;
        let mut taken = std::mem::take(&mut self.taken);
        sort_out(&mut self.live, &self.config.run, n_changes, &posted, &mut taken)?;
        let mut n_made = 0;
        let mut has_enough = ControlFlow::Continue(());
        for entry in taken.drain(..) {
            if entry.has_changed_files() || !matches!(entry, Taken::Result(_)) {
                self.live.scratch.mark_changed();
            }
            if has_enough.is_break() {
                continue;
            }
            has_enough = take(match entry {
                Taken::Result(slot) => made(&self.live.channel, &slot),
                Taken::Ended(ending) => Err(ChangeFailure::Ended { ending }),
                Taken::Fresh(why) => Err(ChangeFailure::NotLive { why }),
                // It and what follows it are posted again, in order.
                Taken::Again => break,
            });
            n_made += 1;
        }
        self.taken = taken;
        self.counts.n_changes += n_made as u64;
        self.pack.drop_first(self.live.channel.inputs(), n_made);
        Ok(has_enough)
    }
}

/// What a checked result says was made.
fn made<'a>(channel: &'a crate::channel::Channel, slot: &ResultSlot) -> Made<'a> {
    match RunEnd::from_target(slot.end) {
        RunEnd::Returned if slot.value == TOO_LARGE => Err(ChangeFailure::TooLarge),
        RunEnd::Returned => Ok(outcome::bytes(channel, slot.output)),
        _ => Err(ChangeFailure::Ended { ending: outcome::ending(slot) }),
    }
}
