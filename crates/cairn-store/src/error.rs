//! What can go wrong with a store.

use std::path::PathBuf;

/// Why the store could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be opened or made.
    #[error("failed to open the store `{path}`")]
    Open {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Written by a later version of Cairn.
    #[error(
        "the store `{path}` has format {found}, this build reads up to {known}\n\nhint: use the newer Cairn, or delete \
         the file to start again"
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest one this build knows.
        known: u32,
    },
    /// Reading or writing failed.
    #[error("failed to {action} in the store `{path}`")]
    Use {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Something in it cannot be what was written.
    #[error("the store `{path}` is damaged: {reason}\n\nhint: delete the file; results will be made again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of inputs cannot be read or written.
    #[error("failed to {action} `{path}`")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file in a corpus folder does not hold the input that it is named after.
    #[error("`{path}` was changed: it is no longer the input that it is named after")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file in a corpus folder is no input.
    #[error(transparent)]
    Input(#[from] crate::input_file::InputFileError),
}

impl StoreError {
    /// Whether somebody has taken an input away, or has put something else in its place.
    pub fn is_lost(&self) -> bool {
        match self {
            Self::File { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Input(error) => !matches!(error, crate::input_file::InputFileError::TooLarge { .. }),
            Self::Changed { .. } => true,
            _ => false,
        }
    }
}
