//! The file itself.

use crate::{error::StoreError, migrations};
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// How long another process may hold the file before we give up.
const PATIENCE: Duration = Duration::from_secs(30);

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store at `path`, made if needed, and brings it to this build's format.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Open { path: path.to_owned(), source };
        let mut connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        let found = migrations::format(&connection).map_err(failed)?;
        if found > migrations::NEWEST {
            return Err(StoreError::TooNew { path: path.to_owned(), found, known: migrations::NEWEST });
        }
        // A log beside the file: readers do not wait for writers, and a write is one append.
        connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
        // Without a sync for each write: a killed process loses nothing, a power cut the last few writes.
        connection.pragma_update(None, "synchronous", "normal").map_err(failed)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        migrations::migrate(&mut connection).map_err(failed)?;
        Ok(Self { connection, path: path.to_owned() })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn failed(&self, action: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
        let path = self.path.clone();
        move |source| StoreError::Use { action, path: path.clone(), source }
    }

    pub(crate) fn damaged(&self, reason: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), reason: reason.into() }
    }
}
