//! What can go wrong between a package's name and its recorded inputs.

use std::{io, path::PathBuf, process::ExitStatus};

/// Why a target could not be fetched, built or recorded.
#[derive(Debug, thiserror::Error)]
pub enum TargetsError {
    /// Nothing is called that.
    #[error("`{name}` is not a {kind} we know; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// `target` or `package`.
        kind: &'static str,
        /// All names.
        known: String,
    },
    /// A target has no build of this flavour.
    #[error("`{target}` has no `{flavour}` build: {why}")]
    NoSuchBuild {
        /// The target.
        target: String,
        /// The flavour.
        flavour: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// Debian packages are missing and could not be installed.
    #[error(
        "these Debian packages are missing and could not be installed: {packages}\n{tail}\n\nhint: run `sudo apt-get update && sudo apt-get install {packages}`"
    )]
    NotInstalled {
        /// Their names, separated by spaces.
        packages: String,
        /// The last lines that `apt-get` printed.
        tail: String,
    },
    /// A source package was not to be had.
    #[error("the source of `{package}` could not be fetched\n\n{log}")]
    Fetch {
        /// The package.
        package: String,
        /// What the script said.
        log: String,
    },
    /// A command failed.
    #[error("`{script}` failed in `{}`: {status}\n{tail}", folder.display())]
    Command {
        /// The command.
        script: String,
        /// Where it ran.
        folder: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The last lines it printed.
        tail: String,
    },
    /// A recording has fewer inputs than the suite is known to give.
    #[error("the suite of `{target}` gave {found} inputs, fewer than {least}\n\nhint: what it printed is in `{}`", log.display())]
    TooFew {
        /// The target.
        target: String,
        /// How many there are.
        found: usize,
        /// How many there should be.
        least: usize,
        /// Where its output went.
        log: PathBuf,
    },
    /// A file or folder could not be used.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A tool of ours answered with something else than it promises.
    #[error("`{}` is not what `{tool}` should have written", path.display())]
    Answer {
        /// The tool.
        tool: &'static str,
        /// The file.
        path: PathBuf,
    },
}

/// Adds what was tried to an error of the system.
pub(crate) trait Tried<T> {
    fn tried(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, TargetsError>;
}

impl<T> Tried<T> for io::Result<T> {
    fn tried(self, action: &'static str, path: impl Into<PathBuf>) -> Result<T, TargetsError> {
        self.map_err(|source| TargetsError::Io { action, path: path.into(), source })
    }
}
