//! What can go wrong with an experiment.

use std::{io, path::PathBuf};

/// Why an experiment could not be carried out. Results that were made are kept.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The description is wrong.
    #[error("`{path}` describes no experiment: {reason}")]
    Description {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A command cannot be started.
    #[error("failed to start `{command}`")]
    Start {
        /// Its words.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// A command that must be contained cannot be.
    #[error("failed to keep a command from writing outside its folder")]
    Contain {
        /// What the system says.
        source: io::Error,
    },
    /// A file cannot be used.
    #[error("failed to {action} `{path}`")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A run on the coverage build could not be carried out.
    #[error("failed to measure what inputs reach")]
    Run(#[from] cairn_executor::ExecutorError),
    /// The coverage build, or a tool that reads what it leaves, did not do its work.
    #[error("failed to measure what inputs reach: {reason}")]
    Coverage {
        /// What happened.
        reason: String,
    },
}

impl ExperimentError {
    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
