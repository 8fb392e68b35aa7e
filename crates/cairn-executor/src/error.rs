//! Why a run could not be carried out.

use crate::config::SandboxLevel;
use cairn_abi::channel::Refusal;
use std::{io, path::PathBuf};

/// Things that keep the executor from running a target.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// The machine lacks what the level needs.
    #[error("sandbox level `{level}` cannot be reached: {missing}")]
    SandboxUnavailable {
        /// The level asked for.
        level: SandboxLevel,
        /// Each missing part and its reason.
        missing: String,
    },
    /// The program cannot be read or is not a file.
    #[error("cannot use `{}` as a target", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The kernel refused to execute the program.
    #[error("cannot execute `{}`", program.display())]
    Exec {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A step between starting a process and executing the program failed.
    #[error("cannot set up the run: {step} failed")]
    Setup {
        /// Which step.
        step: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A path of the input leaves the scratch folder or passes through a link.
    #[error("input file `{path}` {reason}")]
    BadPath {
        /// The path as the input has it.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file of the input could not be made.
    #[error("cannot make the input file `{path}`: {what} failed")]
    Materialise {
        /// The path as the input has it.
        path: String,
        /// What was being done.
        what: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// An argument or environment variable no program can be given.
    #[error("{what} of the input {reason}")]
    BadArgument {
        /// Which one.
        what: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Arguments and environment are larger than any program can be given.
    #[error("arguments and environment of the input take {size} bytes, at most {limit} can be passed")]
    ArgumentsTooLarge {
        /// Their size.
        size: usize,
        /// The largest size.
        limit: usize,
    },
    /// A delivered item cannot be encoded.
    #[error("cannot deliver `{name}`: {reason}")]
    Delivery {
        /// The variable, or `buffer`.
        name: String,
        /// The encoder's reason.
        reason: String,
    },
    /// A guidepost that cannot be armed.
    #[error("cannot arm the guidepost: {reason}")]
    Guidepost {
        /// What is wrong with it.
        reason: String,
    },
    /// A patch whose values no run can tell.
    #[error("the values at patch {patch} cannot be observed")]
    NotObservable {
        /// The patch.
        patch: u32,
    },
    /// A mutant, patch or probe the target does not have.
    #[error("the target has no {what} {number}")]
    NoSuch {
        /// `mutant`, `patch` or `probe`.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// A file that is no reach file of the target.
    #[error("cannot use `{}` as a reach file: {reason}", path.display())]
    ReachFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A command that is not told where one of the outputs is.
    #[error("the compare command has no argument `{place}`")]
    CompareCommand {
        /// What is missing.
        place: &'static str,
    },
    /// The runtime in the target does not fit this build of Cairn.
    #[error("the target refused its channel: {}", refusal_text(*refusal))]
    Refused {
        /// The target's reason.
        refusal: Refusal,
    },
    /// The process that starts targets is gone.
    #[error("the process that keeps the sandbox ended during a run")]
    KeeperLost,
    /// Processes of a run survived all attempts to end them.
    #[error("processes of a run could not be ended")]
    Leftovers,
    /// Something else the system refused.
    #[error("cannot {what}")]
    System {
        /// What was being done.
        what: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl ExecutorError {
    /// What a user can try.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::SandboxUnavailable { level: SandboxLevel::Full, .. } => {
                Some("use `--sandbox basic`, or `--sandbox off` for programs you trust; `cairn doctor` shows each layer".into())
            }
            Self::SandboxUnavailable { .. } => {
                Some("use `--sandbox off` for programs you trust; `cairn doctor` shows each layer".into())
            }
            Self::Refused { refusal: Refusal::Compare } => {
                Some("define `int cairn_compare(const void *, size_t, const void *, size_t)` in the program, and build it again".into())
            }
            Self::Refused { refusal: Refusal::Shadow } => {
                Some("labels need 16 TiB of address space, of which little is used: look at `ulimit -v` and `vm.overcommit_memory`".into())
            }
            Self::Refused { .. } => Some("rebuild the target with `cairn build`".into()),
            Self::Exec { source, .. } if source.raw_os_error() == Some(libc::ENOEXEC) => {
                Some("a target is an executable, not a script or an object file".into())
            }
            Self::ReachFile { .. } => Some("remove it, and run the tests again with the mutant view of this build".into()),
            Self::KeeperLost => Some("use `--sandbox full`, which keeps targets from killing other processes".into()),
            _ => None,
        }
    }

    /// Makes an error of the system an error of the executor.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// Likewise for errors of `nix`.
    pub(crate) fn errno(what: &'static str) -> impl FnOnce(nix::Error) -> Self {
        move |errno| Self::System { what, source: errno.into() }
    }
}

fn refusal_text(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::None => "it gave no reason",
        Refusal::Version => "it was built for another version of Cairn",
        Refusal::Counters => "it has another number of counters than its map",
        Refusal::Mutants => "it does not hold the mutants of its table",
        Refusal::Compare => "it has no function `cairn_compare`",
        Refusal::Shadow => "there is no room in its memory for the labels of values",
        Refusal::Sites => "it does not hold the expressions of its table",
    }
}
