//! What can go wrong when a unit is read.

use std::{io, path::PathBuf};

/// Why there are no facts about a unit.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// No libclang could be opened.
    #[error(
        "libclang 19 was not found (tried {tried})\n\nhint: install the Debian package `libclang1-19` or `libclang-19-dev`"
    )]
    NoLibclang {
        /// The names that were tried.
        tried: String,
    },
    /// Only a libclang of another major version was found.
    #[error(
        "`{path}` is {version}, but facts need libclang 19\n\nhint: install the Debian package `libclang1-19` or `libclang-19-dev`"
    )]
    WrongVersion {
        /// The library.
        path: PathBuf,
        /// What it says of itself.
        version: String,
    },
    /// A library says it is libclang 19 but lacks functions of it.
    #[error("`{path}` lacks the function `{function}` of libclang 19")]
    MissingFunction {
        /// The library.
        path: PathBuf,
        /// The first function missed.
        function: String,
    },
    /// An argument holds a NUL byte, which no command line can.
    #[error("argument `{argument}` holds a NUL byte")]
    NulByte {
        /// The argument.
        argument: String,
    },
    /// libclang did not produce a unit at all, for instance because there is no source file.
    #[error("libclang could not parse the unit ({reason}): `{arguments}`")]
    NotParsed {
        /// What libclang calls it.
        reason: &'static str,
        /// The arguments it was given.
        arguments: String,
    },
    /// The source has errors.
    #[error("{message}")]
    Source {
        /// The first error, as clang prints it.
        message: String,
    },
    /// The thread that reads the unit could not be started.
    #[error("failed to start the thread that reads the unit")]
    Thread(#[source] io::Error),
}
