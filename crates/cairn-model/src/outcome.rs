//! What one run did.

use crate::input::Bytes;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum Ending {
    /// The program returned or called `exit`.
    Exited {
        /// The exit status.
        code: u8,
    },
    /// A signal killed it.
    Signalled {
        /// The signal number.
        signal: i32,
    },
    /// It ran longer than the wall limit.
    TimedOut,
    /// It used up its fuel: a hang, told by counting rather than by the clock.
    OutOfFuel,
    /// It stopped itself (SIGSTOP and friends) and was killed for it.
    Stopped,
    /// It asked for more memory than allowed and died of it.
    OutOfMemory,
    /// It wrote more into one file or stream than allowed and was ended for it.
    TooMuchOutput,
    /// An assumption (`klee_assume`, `cairn_assume`) was false: the input is not one the program wants.
    AssumptionFailed,
    /// An armed guidepost was broken.
    GuidepostBroken,
    /// It asked for a variable with another type or size than the input gives: the input was made for another
    /// version of the program.
    DeliveryMismatch,
    /// The sandbox ended it because it tried something forbidden.
    Forbidden {
        /// The system call, by name where known.
        what: String,
    },
}

impl Ending {
    /// Whether this is a failure of the program itself: a crash, a hang, memory or output without end.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Signalled { .. }
                | Self::TimedOut
                | Self::OutOfFuel
                | Self::OutOfMemory
                | Self::TooMuchOutput
        )
    }
}

/// Bytes a run wrote, cut at the limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// What was kept.
    pub bytes: Bytes,
    /// How much was written in all.
    pub total: u64,
}

impl Captured {
    /// Whether something was cut off. Truncated outputs compare as unknown.
    pub fn is_truncated(&self) -> bool {
        self.total > self.bytes.0.len() as u64
    }
}

/// A file below the scratch folder after the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileChange {
    /// Created, or its content or mode changed.
    Written {
        /// Its content, cut at the limit.
        content: Captured,
        /// Its permission bits.
        mode: u32,
    },
    /// A folder appeared.
    Folder,
    /// A symbolic link appeared or changed.
    Link {
        /// Where it points.
        target: Bytes,
    },
    /// Something else appeared or its mode changed: it has no content.
    Special {
        /// What it is.
        kind: SpecialKind,
        /// Its permission bits.
        mode: u32,
    },
    /// It was there before and is gone.
    Removed,
}

/// Entries of a folder that are neither files, folders nor links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpecialKind {
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl std::fmt::Display for SpecialKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Fifo => "pipe",
            Self::Socket => "socket",
            Self::Device => "device",
        })
    }
}

/// Everything observable about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// What changed below the scratch folder, by path relative to it.
    ///
    /// A backslash in a path is doubled, control characters and bytes that are no text are escaped (`\n`, `\xff`),
    /// so that different paths stay different and each is one line.
    pub files: BTreeMap<String, FileChange>,
    /// Whether the run left more files than were looked at. Then files compare as unknown at best.
    #[serde(default)]
    pub files_cut: bool,
    /// What the harness returned, if it is one and returned.
    pub harness_return: Option<i32>,
    /// What the harness passed to `cairn_output`.
    pub harness_output: Captured,
    /// Whether `main` was entered; `None` when the build cannot tell.
    pub reached_main: Option<bool>,
    /// How long it took.
    #[serde(skip)]
    pub elapsed: Duration,
}

/// Whether two outcomes are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are.
    Same,
    /// They are not: the parts that differ, by name (`ending`, `stdout`, `file out.txt`).
    Different(Vec<String>),
    /// A part that was cut off is equal as far as it was kept, and no other part differs.
    Unknown(Vec<String>),
}

impl Outcome {
    /// Compares content, never time.
    pub fn compare(&self, other: &Self) -> Comparison {
        let mut different = Vec::new();
        let mut unknown = Vec::new();
        let mut check_captured = |name: String, a: &Captured, b: &Captured| {
            if a.bytes != b.bytes || (!a.is_truncated() && !b.is_truncated() && a.total != b.total) {
                different.push(name);
            } else if a.is_truncated() || b.is_truncated() {
                unknown.push(name);
            }
        };
        check_captured("stdout".into(), &self.stdout, &other.stdout);
        check_captured("stderr".into(), &self.stderr, &other.stderr);
        check_captured("harness output".into(), &self.harness_output, &other.harness_output);
        let paths: std::collections::BTreeSet<_> = self.files.keys().chain(other.files.keys()).collect();
        for path in paths {
            match (self.files.get(path), other.files.get(path)) {
                (
                    Some(FileChange::Written { content: a, mode: mode_a }),
                    Some(FileChange::Written { content: b, mode: mode_b }),
                ) if mode_a == mode_b => check_captured(format!("file {path}"), a, b),
                (a, b) if a == b => {}
                _ => check_captured(
                    format!("file {path}"),
                    &Captured::default(),
                    &Captured { bytes: Bytes(vec![0]), total: 1 },
                ),
            }
        }
        if self.files_cut || other.files_cut {
            unknown.push("files".into());
        }
        if self.ending != other.ending {
            different.push("ending".into());
        }
        if self.harness_return != other.harness_return {
            different.push("harness return".into());
        }
        match (different.is_empty(), unknown.is_empty()) {
            (false, _) => Comparison::Different(different),
            (true, false) => Comparison::Unknown(unknown),
            (true, true) => Comparison::Same,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(files_cut: bool) -> Outcome {
        Outcome {
            ending: Ending::Exited { code: 0 },
            stdout: Captured::default(),
            stderr: Captured::default(),
            files: BTreeMap::new(),
            files_cut,
            harness_return: None,
            harness_output: Captured::default(),
            reached_main: None,
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn files_that_were_not_looked_at_are_not_called_the_same() {
        assert_eq!(outcome(false).compare(&outcome(false)), Comparison::Same);
        let unknown = Comparison::Unknown(vec!["files".into()]);
        assert_eq!(outcome(true).compare(&outcome(true)), unknown);
        assert_eq!(outcome(true).compare(&outcome(false)), unknown);
    }

    #[test]
    fn a_difference_seen_is_told_even_if_files_were_cut() {
        let other = Outcome { ending: Ending::TimedOut, ..outcome(true) };
        assert_eq!(outcome(true).compare(&other), Comparison::Different(vec!["ending".into()]));
    }
}
