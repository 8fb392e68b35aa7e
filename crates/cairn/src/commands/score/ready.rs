//! An input that mutants can be run on.

use super::memory::ExaminedSets;
use cairn_executor::{
    mutants::{fuel_for, time_for},
    oracle::{Masks, Reference},
};
use cairn_model::Outcome;
use cairn_store::ResultKey;
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// An input that mutants can be run on.
pub struct Ready {
    /// What results are remembered under.
    pub key: ResultKey,
    /// What the bare build does, if that is small enough to keep.
    pub original: Option<Arc<Outcome>>,
    /// What of it is not always the same.
    pub masks: Masks,
    /// The same, to be told.
    pub masked: Vec<String>,
    /// System calls that the sandbox refused the original.
    pub refused: Vec<String>,
    /// Whether the original does the same where memory is laid out otherwise.
    pub is_movable: bool,
    /// Steps the original takes.
    pub fuel_used: u64,
    /// The longest that the original took.
    pub time: Duration,
    /// How long it took to examine it.
    pub examined_time: Duration,
    /// Branches it takes.
    pub branches: BTreeSet<u32>,
    /// What it reaches.
    pub examined: ExaminedSets,
}

impl Ready {
    /// The steps a mutant may take.
    pub fn fuel(&self) -> u64 {
        fuel_for(self.fuel_used)
    }

    /// The time a mutant may take, where the original has `limit`, which is the least.
    pub fn wall_limit(&self, limit: Duration) -> Duration {
        time_for(self.time, self.examined_time, limit)
    }
}

/// Names all that the original was seen to do: verdicts made while it did something else say nothing.
///
/// `varying` are parts that differ from run to run and that the user's comparison calls the same.
pub fn name_original(reference: &Reference<'_>, varying: &[String], examined: &ExaminedSets) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let mut tell = |name: &str, bytes: &[u8]| {
        for part in [name.as_bytes(), bytes] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    };
    let masks = reference.masks.and(varying);
    Reference { masks: &masks, ..*reference }.tell_parts(&mut tell);
    for part in varying {
        tell("varying", part.as_bytes());
    }
    examined.hash_into(&mut hasher);
    *hasher.finalize().as_bytes()
}
