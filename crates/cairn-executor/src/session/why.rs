//! Why a run was made in a fresh process.

use std::fmt;

/// What keeps an input from being run, or judged, in the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyFresh {
    /// The target cannot be run in a session at all; [`crate::SessionMode`] says why.
    NoSession,
    /// It sets a variable that acts before `main`.
    Variable {
        /// The variable.
        name: String,
    },
    /// It is larger than the session's memory for inputs, or has more arguments than a session passes on.
    TooLarge,
    /// It has more than a buffer, and a persistent runner takes nothing else.
    NotABuffer,
    /// It made a system call that cannot be undone.
    Call {
        /// The call, by name where known.
        name: String,
    },
    /// It looked at what `/proc` shows of processes, where a session looks different from a process of its own.
    LooksAtItself,
    /// The process could not be restored after it.
    Ruined,
    /// Its result was damaged.
    Damaged,
    /// What it left is larger than the session's memory for that.
    NotKept,
    /// Its process was killed, by it or by somebody else.
    Killed,
    /// Its process ended in a way that may be due to the session, a system call that could not be stopped for instance.
    DiedOddly,
    /// Its process died having filled most of the memory it may have.
    FilledMemory,
    /// Its process stopped.
    Stopped,
    /// The mutant makes a difference before `main`, where a session has passed for all runs.
    BeforeMain,
}

impl fmt::Display for WhyFresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession => f.write_str("the target has no session"),
            Self::Variable { name } => write!(f, "the variable `{name}` acts before `main`"),
            Self::TooLarge => f.write_str("the input is large"),
            Self::NotABuffer => f.write_str("the input has more than a buffer"),
            Self::Call { name } => write!(f, "it makes the system call `{name}`"),
            Self::LooksAtItself => f.write_str("it looks at its own process in `/proc`"),
            Self::Ruined => f.write_str("the process could not be restored"),
            Self::Damaged => f.write_str("the result was damaged"),
            Self::NotKept => f.write_str("what it leaves is large"),
            Self::Killed => f.write_str("the process was killed"),
            Self::DiedOddly => f.write_str("the process died in a way that needs a second look"),
            Self::FilledMemory => f.write_str("the process filled its memory"),
            Self::Stopped => f.write_str("the process stopped"),
            Self::BeforeMain => f.write_str("the mutant acts before `main`"),
        }
    }
}
