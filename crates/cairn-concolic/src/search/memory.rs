//! What searches share.

use super::traced::{Traced, Tracer};
use cairn_model::Input;
use cairn_solver::Answers;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

/// What many searches in one program share, also those of other threads: every run is made once and every query answered once.
///
/// Runs are those of one view, with one level of tracing.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Runs by input.
    pub traces: Traces,
    /// Answers by query.
    pub answers: Answers,
}

/// Runs by input, as many as there is room for; the oldest are forgotten first, and made again when they are needed.
#[derive(Clone, Debug)]
pub struct Traces {
    kept: Arc<Mutex<Kept>>,
    capacity: usize,
}

#[derive(Debug, Default)]
struct Kept {
    by_input: HashMap<String, Arc<Traced>>,
    /// Oldest first.
    order: VecDeque<String>,
    size: usize,
    n_made: u64,
    n_recalled: u64,
}

/// Nodes and steps kept by default: about a gigabyte.
const CAPACITY: usize = 8 << 20;

impl Traces {
    /// At most about so many nodes of expressions and steps of paths.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { kept: Arc::default(), capacity }
    }

    /// The run of an input, made by `tracer` unless it is known.
    pub fn get<T: Tracer>(&self, tracer: &mut T, input: &Input) -> Result<Arc<Traced>, T::Error> {
        let address = input.address();
        if let Some(known) = self.recall(&address) {
            return Ok(known);
        }
        // Not while others wait: two of them may make the same run, and either is right.
        let traced = Arc::new(tracer.trace(input)?);
        self.keep(address, traced.clone());
        Ok(traced)
    }

    /// Runs made, and runs that were known.
    pub fn counts(&self) -> (u64, u64) {
        self.with(|kept| (kept.n_made, kept.n_recalled))
    }

    fn recall(&self, address: &str) -> Option<Arc<Traced>> {
        self.with(|kept| {
            let known = kept.by_input.get(address).cloned();
            kept.n_recalled += u64::from(known.is_some());
            known
        })
    }

    fn keep(&self, address: String, traced: Arc<Traced>) {
        self.with(|kept| {
            kept.n_made += 1;
            kept.size += traced.size();
            if let Some(same) = kept.by_input.insert(address.clone(), traced) {
                kept.size -= same.size();
            } else {
                kept.order.push_back(address);
            }
            while kept.size > self.capacity && kept.order.len() > 1 {
                let oldest = kept.order.pop_front().and_then(|address| kept.by_input.remove(&address));
                kept.size -= oldest.map_or(0, |traced| traced.size());
            }
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        // Runs are inserted whole, so what a panicking thread left is whole.
        work(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Traces {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}
