//! The inputs a campaign keeps.

use cairn_model::{Entry, EntryId};
use std::sync::{Arc, PoisonError, RwLock};

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
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(entry.id.index(), entries.len(), "entries are named in order");
        let entry = Arc::new(entry);
        entries.push(entry.clone());
        entry
    }

    fn read<T>(&self, look: impl FnOnce(&[Arc<Entry>]) -> T) -> T {
        // Entries are pushed whole, so what a panicking worker left is whole.
        look(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }
}
