//! Inputs that a harness changes itself: `LLVMFuzzerCustomMutator` and `LLVMFuzzerCustomCrossOver`.
//!
//! These are functions of the target, so a batch is made in two steps: buffers go to the target to be changed, and what comes
//! back is run. They may do anything wrong that a target may: what they spoil is changed by the fuzzer's own ways, and if
//! that happens too often they are no longer called.

use crate::{batch::Batch, dictionary::Dictionary, mutation::HarnessWay, random::Random};
use cairn_executor::{Change, ChangeFailure, Changer, ExecutorError, Session, SessionMode};
use cairn_model::ProgramMap;
use std::ops::{ControlFlow, Range};

/// What a harness is asked to change, and how well it does.
#[derive(Default)]
pub(crate) struct HarnessChanges {
    asked: Vec<Asked>,
    /// What buffers are crossed with, one after the other.
    others: Vec<u8>,
    n_calls: u64,
    n_failures: u64,
    /// What went wrong first, for people.
    failure: Option<String>,
}

/// A buffer of the batch that is to be changed.
struct Asked {
    place: usize,
    way: HarnessWay,
    n_times: u32,
    seed: u32,
    other: Range<usize>,
}

/// So many failures are forgiven, and one more in so many calls.
const FORGIVEN: u64 = 2;
const RARELY: u64 = 10_000;

/// Words that are handed over with a batch: others come with the next.
const WORDS: usize = 16;

/// A buffer may grow to its double, and to this size in any case: some mutators use all the room there is.
const LEAST_ROOM: usize = 4096;

impl HarnessChanges {
    /// Whether it does well enough to be asked.
    pub(crate) fn is_trusted(&self) -> bool {
        self.n_failures <= FORGIVEN + self.n_calls / RARELY
    }

    /// How many buffers it was asked to change so far.
    pub(crate) fn n_calls(&self) -> u64 {
        self.n_calls
    }

    /// Asks for a change of the buffer at a place of the batch.
    pub(crate) fn ask(&mut self, place: usize, way: HarnessWay, n_times: u32, seed: u32, other: &[u8]) {
        let start = self.others.len();
        self.others.extend_from_slice(other);
        self.asked.push(Asked { place, way, n_times, seed, other: start..self.others.len() });
    }

    /// Has everything changed that was asked for, and returns the places where nothing came of it.
    pub(crate) fn make(
        &mut self,
        session: &mut Session,
        batch: &mut Batch,
        dictionary: &Dictionary,
        random: &mut Random,
        max_size: usize,
    ) -> Result<Vec<usize>, ExecutorError> {
        let asked = std::mem::take(&mut self.asked);
        let others = std::mem::take(&mut self.others);
        let words: Vec<&[u8]> =
            (0..WORDS).filter_map(|_| random.one_of(dictionary.tokens())).map(Vec::as_slice).collect();
        let mut unchanged = Vec::new();
        let mut start = 0;
        while start < asked.len() {
            let rest = &asked[start..];
            if !self.is_trusted() {
                unchanged.extend(rest.iter().map(|asked| asked.place));
                break;
            }
            let mut changes = session.changes(words.iter().copied());
            let fits = |asked: &&Asked| changes.push(&asked.change(batch, &others, max_size));
            let n = rest.iter().take_while(fits).count();
            let mut done = rest.iter();
            changes.make(|made| {
                let Some(asked) = done.next() else { return ControlFlow::Break(()) };
                match made {
                    Ok(bytes) if !bytes.is_empty() => batch.set_buffer(asked.place, bytes),
                    Ok(_) => unchanged.push(asked.place),
                    Err(failure) => {
                        unchanged.push(asked.place);
                        self.note_failure(asked.way, &failure);
                    }
                }
                self.n_calls += 1;
                if self.is_trusted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            start += rest.len() - done.len();
            if n == 0 {
                // Too large to be handed over.
                unchanged.push(rest[0].place);
                start += 1;
            }
        }
        // What was allocated is used again.
        self.asked = asked;
        self.asked.clear();
        self.others = others;
        self.others.clear();
        Ok(unchanged)
    }

    fn note_failure(&mut self, way: HarnessWay, failure: &ChangeFailure) {
        self.n_failures += 1;
        self.failure
            .get_or_insert_with(|| format!("the harness's own `{}` fails: {failure}", way.function()));
    }

    /// What a person should know.
    pub(crate) fn notice(&self) -> Option<String> {
        let failure = self.failure.as_ref()?;
        let outcome = match self.is_trusted() {
            true => "inputs it fails on are changed without it",
            false => "it fails too often, so the fuzzer goes on without it",
        };
        Some(format!("{failure}; {outcome}"))
    }
}

impl Asked {
    fn change<'a>(&self, batch: &'a Batch, others: &'a [u8], max_size: usize) -> Change<'a> {
        let data = batch.buffer(self.place);
        let by = match self.way {
            HarnessWay::Mutator => Changer::Mutator { n_times: self.n_times },
            HarnessWay::CrossOver => Changer::CrossOver { other: &others[self.other.clone()] },
        };
        Change { data, by, seed: self.seed, max_size: max_size.min((data.len() * 2).max(LEAST_ROOM)) }
    }
}

/// Says if a harness has functions of its own that cannot be called.
pub(crate) fn why_uncalled(map: &ProgramMap, session: &Session) -> Option<String> {
    let SessionMode::Fresh { why } = session.mode() else { return None };
    let is_own = |name: &str| HarnessWay::ALL.iter().any(|way| way.function() == name);
    let function = map.functions.iter().find(|function| is_own(&function.symbol))?;
    Some(format!(
        "the harness's own `{}` is not called, because there is no live process: {why}",
        function.symbol
    ))
}
