//! Inputs that are kept, and where they came from.

use crate::input::Input;
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// Names an input of a corpus: its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryId(pub u32);

impl EntryId {
    /// The position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Where an input came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The input it was made from.
    pub parent: Option<EntryId>,
    /// Who made it: the name of a strategy, or `seed`.
    pub strategy: String,
    /// How it was made.
    pub made_by: String,
    /// Why it is kept, for people.
    pub kept_for: String,
    /// When it was found, since the campaign began.
    pub found_after: Duration,
}

/// An input that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub id: EntryId,
    /// What the target is given.
    pub input: Input,
    /// Where it came from.
    pub provenance: Provenance,
    /// Counters it hits, with the class of the count (1, 2, 3, 4–7, 8–15, 16–31, 32–127, more: one bit each), in order.
    pub hits: Vec<(u32, u8)>,
    /// Steps its run takes: what running it costs.
    pub fuel: u64,
    /// The path its run takes, 0 if the target has no view that tells.
    pub path_hash: u64,
}
