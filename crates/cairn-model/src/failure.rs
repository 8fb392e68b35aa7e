//! Ways in which a program fails.

use crate::{entry::Provenance, input::Input, outcome::Ending};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An input on which the program fails, confirmed on the bare build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFailure {
    /// Names the way it fails: failures with equal signatures are one.
    pub signature: String,
    /// What the program does.
    pub ending: Ending,
    /// What kind of failure it is, for people: `SIGSEGV`, `hang`, `stack overflow`.
    pub kind: String,
    /// Where it was when it failed, innermost first; empty if unknown.
    pub stack: Vec<Frame>,
    /// What a sanitizer or the program itself said, cut.
    pub report: String,
    /// The smallest input known to fail so.
    pub input: Input,
    /// Where the first such input came from.
    pub provenance: Provenance,
}

/// A function on the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Its name, or `??`.
    pub function: String,
    /// The source file, if known.
    pub file: Option<String>,
    /// The line, if known.
    pub line: Option<u32>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " at {file}:{line}"),
            (Some(file), None) => write!(f, " in {file}"),
            _ => Ok(()),
        }
    }
}
