//! Inputs that are run together.

use crate::mutation::Recipe;
use cairn_executor::{BufferEnd, ExecutorError, Session, Wants};
use cairn_model::{Ending, Input};

/// Inputs that are run together: buffers of a harness, for which nothing is allocated, or whole inputs.
#[derive(Default)]
pub(crate) struct Batch {
    made: Vec<Made>,
    /// One for each place, however many are in use.
    buffers: Vec<Vec<u8>>,
    inputs: Vec<Input>,
    kind: Kind,
}

/// What a batch holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing yet.
    #[default]
    Empty,
    Buffers,
    Inputs,
}

/// How an input was made.
#[derive(Clone, Default)]
pub(crate) struct Made {
    /// The seed it was made from.
    pub seed: Option<u32>,
    pub recipe: Recipe,
    /// For people, if it is not by the recipe.
    pub how: Option<String>,
}

/// A run that is worth a look: it reached something new, or did not end well.
pub(crate) struct Notable {
    /// The place of its input in the batch.
    pub place: usize,
    pub ending: Ending,
    /// Empty if nothing about them is new, unless it was out of time.
    pub counters: Vec<u8>,
    pub fuel: u64,
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.made.clear();
        self.inputs.clear();
        self.kind = Kind::Empty;
    }

    pub(crate) fn len(&self) -> usize {
        self.made.len()
    }

    /// Whether something of a kind can be added.
    pub(crate) fn takes(&self, kind: Kind) -> bool {
        self.kind == Kind::Empty || self.kind == kind
    }

    /// Adds a buffer, which `make` fills; it is empty to begin with.
    #[inline]
    pub(crate) fn push_buffer(&mut self, make: impl FnOnce(&mut Vec<u8>) -> Made) {
        debug_assert!(self.takes(Kind::Buffers));
        self.kind = Kind::Buffers;
        let place = self.made.len();
        if place == self.buffers.len() {
            self.buffers.push(Vec::new());
        }
        let buffer = &mut self.buffers[place];
        buffer.clear();
        self.made.push(make(buffer));
    }

    /// The buffer at a place.
    pub(crate) fn buffer(&self, place: usize) -> &[u8] {
        &self.buffers[place]
    }

    /// Replaces the buffer at a place.
    pub(crate) fn set_buffer(&mut self, place: usize, bytes: &[u8]) {
        self.buffers[place].clear();
        self.buffers[place].extend_from_slice(bytes);
    }

    /// Changes the buffer at a place, in a way that `change` tells.
    pub(crate) fn change_buffer(&mut self, place: usize, change: impl FnOnce(&mut Vec<u8>) -> Recipe) {
        self.made[place].recipe = change(&mut self.buffers[place]);
    }

    /// Adds an input.
    pub(crate) fn push_input(&mut self, input: Input, made: Made) {
        debug_assert!(self.takes(Kind::Inputs));
        self.kind = Kind::Inputs;
        self.inputs.push(input);
        self.made.push(made);
    }

    pub(crate) fn made(&self, place: usize) -> &Made {
        &self.made[place]
    }

    /// The input at a place.
    pub(crate) fn input(&self, place: usize) -> Input {
        match self.kind {
            Kind::Inputs => self.inputs[place].clone(),
            _ => buffer_input(&self.buffers[place]),
        }
    }

    /// Runs everything and tells of what is worth a look, and of the counters of each run if they are wanted always.
    pub(crate) fn run(
        &mut self,
        session: &mut Session,
        wants: Wants,
        counted: &mut dyn FnMut(usize, &[u8]),
        notable: &mut Vec<Notable>,
    ) -> Result<(), ExecutorError> {
        match self.kind {
            Kind::Empty => Ok(()),
            Kind::Buffers => self.run_buffers(session, wants, counted, notable),
            Kind::Inputs => run_inputs(&self.inputs, 0, session, wants, counted, notable),
        }
    }

    fn run_buffers(
        &mut self,
        session: &mut Session,
        wants: Wants,
        counted: &mut dyn FnMut(usize, &[u8]),
        notable: &mut Vec<Notable>,
    ) -> Result<(), ExecutorError> {
        let buffers = &self.buffers[..self.made.len()];
        let mut start = 0;
        while start < buffers.len() {
            let mut batch = session.buffers();
            let n = buffers[start..].iter().take_while(|buffer| batch.push(buffer)).count();
            if n == 0 {
                // Too large for any batch.
                let whole = [buffer_input(&buffers[start])];
                run_inputs(&whole, start, session, wants, counted, notable)?;
                start += 1;
                continue;
            }
            for (place, run) in (start..).zip(batch.run(wants)?) {
                // Where a run that is out of time happened to be is nothing to count.
                if let Some(counters) = run.counters
                    && wants != Wants::NOVELTY
                    && run.end != BufferEnd::Ended(Ending::TimedOut)
                {
                    counted(place, counters);
                }
                let ending = match run.end {
                    BufferEnd::Returned(_) if run.n_new == 0 => continue,
                    BufferEnd::Returned(_) => Ending::Exited { code: 0 },
                    BufferEnd::Ended(ending) => ending,
                };
                if run.n_new > 0 || ending.is_failure() {
                    let is_shown = run.n_new > 0 || ending == Ending::TimedOut;
                    let counters = run.counters.filter(|_| is_shown).unwrap_or_default().to_vec();
                    notable.push(Notable { place, ending, counters, fuel: run.fuel_used });
                }
            }
            start += n;
        }
        Ok(())
    }
}

fn buffer_input(buffer: &[u8]) -> Input {
    Input { buffer: Some(buffer.into()), ..Input::default() }
}

/// Runs whole inputs, the first of which has a place in the batch.
fn run_inputs(
    inputs: &[Input],
    first: usize,
    session: &mut Session,
    wants: Wants,
    counted: &mut dyn FnMut(usize, &[u8]),
    notable: &mut Vec<Notable>,
) -> Result<(), ExecutorError> {
    for (place, run) in (first..).zip(session.run_batch(inputs, wants)?) {
        let execution = run.execution;
        let is_out_of_time = execution.outcome.ending == Ending::TimedOut;
        if wants != Wants::NOVELTY && !is_out_of_time {
            counted(place, &execution.counters);
        }
        if run.n_new > 0 || execution.outcome.ending.is_failure() {
            let is_shown = run.n_new > 0 || is_out_of_time;
            let counters = if is_shown { execution.counters } else { Vec::new() };
            notable.push(Notable {
                place,
                ending: execution.outcome.ending,
                counters,
                fuel: execution.fuel_used,
            });
        }
    }
    Ok(())
}
