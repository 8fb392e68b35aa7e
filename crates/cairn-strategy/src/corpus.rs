//! The inputs a campaign keeps.

use cairn_model::Input;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    sync::{Arc, RwLock},
    time::Duration,
};

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
    /// Counters it hits, with the class of the count (see [`cairn_abi::session::class`]), in order.
    pub hits: Vec<(u32, u8)>,
    /// Steps its run takes: what running it costs.
    pub fuel: u64,
    /// The path its run takes, 0 if the target has no view that tells.
    pub path_hash: u64,
}

/// The inputs a campaign keeps, shared by its workers. Entries are added and never change.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    entries: Arc<RwLock<Vec<Arc<Entry>>>>,
}

impl Corpus {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.read(|entries| entries.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    ///
    /// # Panics
    /// If nothing has this name.
    pub fn get(&self, id: EntryId) -> Arc<Entry> {
        self.read(|entries| entries[id.index()].clone())
    }

    /// All from the `start`th on: what a worker that knows the first `start` has not seen.
    pub fn since(&self, start: usize) -> Vec<Arc<Entry>> {
        self.read(|entries| entries.get(start..).unwrap_or_default().to_vec())
    }

    /// Adds an entry; for the campaign.
    ///
    /// # Panics
    /// If its name is not the next one.
    pub fn push(&self, entry: Entry) -> Arc<Entry> {
        let mut entries = self.entries.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        assert_eq!(entry.id.index(), entries.len(), "entries are named in order");
        let entry = Arc::new(entry);
        entries.push(entry.clone());
        entry
    }

    fn read<T>(&self, look: impl FnOnce(&[Arc<Entry>]) -> T) -> T {
        // Entries are pushed whole, so what a panicking worker left is whole.
        look(&self.entries.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}
