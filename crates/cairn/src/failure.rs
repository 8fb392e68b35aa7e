//! Errors as people meet them: what happened, and what to try.

use crate::exit_code::Exit;
use std::fmt;

pub use cairn_campaign::chain;

/// An error with a hint and an exit code.
#[derive(Debug)]
pub struct Failure {
    /// What happened, to what.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// How the command ends.
    pub exit: Exit,
}

impl Failure {
    /// The user can mend this on the command line or in a file.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(message.into(), Exit::Usage)
    }

    /// The target could not be built or started.
    pub fn target(message: impl Into<String>) -> Self {
        Self::new(message.into(), Exit::Target)
    }

    /// There is nothing to score.
    pub fn nothing(message: impl Into<String>) -> Self {
        Self::new(message.into(), Exit::NothingToScore)
    }

    /// A score would mean nothing.
    pub fn unbelievable(message: impl Into<String>) -> Self {
        Self::new(message.into(), Exit::Unbelievable)
    }

    /// Errors of `cairn-cc` carry their hint after a blank line.
    fn new(message: String, exit: Exit) -> Self {
        match message.split_once("\n\nhint: ") {
            Some((what, hint)) => Self { message: what.into(), hint: Some(hint.into()), exit },
            None => Self { message, hint: None, exit },
        }
    }

    /// Adds what to try.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what to try, if something is known.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self { message: error.to_string(), hint: None, exit: Exit::Internal }
    }
}

impl From<cairn_executor::ExecutorError> for Failure {
    fn from(error: cairn_executor::ExecutorError) -> Self {
        Self::target(chain(&error)).maybe_hint(error.hint())
    }
}
