//! An input that mutants can be run on.

use super::memory::ExaminedSets;
use cairn_executor::{
    mutants::fuel_for,
    oracle::{Masks, Reference},
};
use cairn_model::Outcome;
use cairn_store::ResultKey;
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// A mutant may take so many times the time that the original takes on the same input, at least and at most. Mutated
/// code is slower: hardly so where a program mostly calls, twelve times in the hottest of loops with all operators.
pub const TIME_MARGINS: [u32; 2] = [10, 40];

/// How much slower can be seen from the examining run: in between, a mutant may take so many times what that took.
pub const EXAMINED_MARGIN: u32 = 5;

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
        let [least, most] = TIME_MARGINS.map(|margin| self.time.saturating_mul(margin));
        self.examined_time.saturating_mul(EXAMINED_MARGIN).clamp(least, most).max(limit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutants_of_slow_originals_have_more_time_and_no_mutant_has_less_than_the_original() {
        let limit = |time, examined_time| {
            let ready = Ready {
                key: ResultKey::default(),
                original: None,
                masks: Masks::default(),
                masked: Vec::new(),
                fuel_used: 7,
                time: Duration::from_millis(time),
                examined_time: Duration::from_millis(examined_time),
                branches: BTreeSet::new(),
                examined: ExaminedSets::default(),
            };
            ready.wall_limit(Duration::from_secs(1)).as_millis()
        };
        assert_eq!(limit(3, 9), 1000);
        assert_eq!(limit(900, 1000), 9000);
        assert_eq!(limit(900, 4000), 20_000);
        assert_eq!(limit(900, 60_000), 36_000);
    }
}
