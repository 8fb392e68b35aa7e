//! Disks that are full.

use rusqlite::ErrorCode;
use std::{error::Error, io};

/// SQLite could not enlarge the memory that processes share, which is a file too.
const NO_ROOM_TO_SHARE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// Whether an error, or what caused it, is that there is no room left to write to.
pub fn is_disk_full(error: &(dyn Error + 'static)) -> bool {
    let file = error.downcast_ref::<io::Error>().map(io::Error::kind);
    let store = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error);
    matches!(file, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
        || store
            .is_some_and(|error| error.code == ErrorCode::DiskFull || error.extended_code == NO_ROOM_TO_SHARE)
        || error.source().is_some_and(is_disk_full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreError;

    #[test]
    fn a_full_disk_is_known_behind_other_words() {
        let file = |kind: io::ErrorKind| StoreError::File {
            action: "write",
            path: "x".into(),
            source: io::Error::from(kind),
        };
        let store = |code| StoreError::Use {
            action: "keep an input",
            path: "x".into(),
            source: rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None),
        };
        assert!(is_disk_full(&file(io::ErrorKind::StorageFull)));
        assert!(!is_disk_full(&file(io::ErrorKind::PermissionDenied)));
        assert!(is_disk_full(&store(rusqlite::ffi::SQLITE_FULL)));
        assert!(is_disk_full(&store(NO_ROOM_TO_SHARE)));
        assert!(!is_disk_full(&store(rusqlite::ffi::SQLITE_BUSY)));
    }
}
