//! The exit codes of `cairn`, documented in `docs/exit-codes.md`.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// The command line or a file given to it is wrong.
    Usage = 2,
    /// The program crashed, hung or ran out of memory on an input.
    Findings = 3,
    /// The target could not be built or started.
    Target = 4,
    /// The score is below the one that was asked for.
    BelowScore = 5,
    /// There is nothing to score: no mutant was selected, or no input reaches one.
    NothingToScore = 6,
    /// A score would mean nothing: the mutant view differs from the program, or no input is stable.
    Unbelievable = 7,
    /// No input was found that does what was asked for.
    NotFound = 8,
    /// The program does not do what the suite says.
    Changed = 9,
    /// Something failed that should not.
    Internal = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
