//! What a program did on an input, as far as that counts.

use cairn_executor::oracle::Oracle;
use cairn_model::{
    Ending, Outcome,
    input::Bytes,
    outcome::{Captured, FileChange},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is expected of a program on an input. Parts that are absent are not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// How it ends.
    pub ending: Ending,
    /// What it writes to standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Recorded>,
    /// What it writes to standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Recorded>,
    /// What it changes below its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, FileChange>>,
    /// What a harness returns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_return: Option<i32>,
    /// What a harness passes to `cairn_output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness_output: Option<Recorded>,
    /// Parts that are not compared because they are not always the same, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstable: Vec<String>,
}

/// Bytes a program wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Recorded {
    /// All of them.
    Whole(Bytes),
    /// The first ones, of so many.
    Cut {
        /// What was kept.
        start: Bytes,
        /// How many there were.
        total: u64,
    },
}

impl From<&Captured> for Recorded {
    fn from(captured: &Captured) -> Self {
        match captured.is_truncated() {
            false => Self::Whole(captured.bytes.clone()),
            true => Self::Cut { start: captured.bytes.clone(), total: captured.total },
        }
    }
}

impl Recorded {
    /// What is there of it.
    pub fn kept(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) | Self::Cut { start: bytes, .. } => &bytes.0,
        }
    }

    /// Whether all of it is there.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }
}

impl Expected {
    /// What counts of `outcome`, without the `unstable` parts.
    pub fn of(outcome: &Outcome, oracle: &Oracle, unstable: Vec<String>) -> Self {
        let mut expected = Self {
            ending: outcome.ending.clone(),
            stdout: None,
            stderr: None,
            files: None,
            harness_return: None,
            harness_output: None,
            unstable: Vec::new(),
        };
        // Of a program that is stopped nobody knows how far it comes.
        if is_stopped(&outcome.ending) {
            return expected;
        }
        let is_unstable = |part: &str| unstable.iter().any(|unstable| unstable == part);
        let stream = |counts: bool, part: &str, captured: &Captured| {
            (counts && !is_unstable(part)).then(|| captured.into())
        };
        let is_harness = outcome.harness_return.is_some();
        expected.stdout = stream(oracle.stdout, "stdout", &outcome.stdout);
        expected.stderr = stream(oracle.stderr, "stderr", &outcome.stderr);
        expected.harness_output =
            stream(oracle.harness_output && is_harness, "harness output", &outcome.harness_output);
        if oracle.harness_return && !is_unstable("harness return") {
            expected.harness_return = outcome.harness_return;
        }
        if oracle.files && !is_unstable("files") {
            let is_stable = |(path, _): &(&String, &FileChange)| !is_unstable(&format!("file {path}"));
            let files = outcome.files.iter().filter(is_stable);
            expected.files = Some(files.map(|(path, change)| (path.clone(), change.clone())).collect());
        }
        expected.unstable = unstable;
        expected
    }

    /// Whether a part is not compared because it is not always the same.
    pub fn is_unstable(&self, part: &str) -> bool {
        self.unstable.iter().any(|unstable| unstable == part)
    }
}

/// Whether a program was ended from outside, wherever it was.
pub fn is_stopped(ending: &Ending) -> bool {
    matches!(
        ending,
        Ending::TimedOut | Ending::OutOfFuel | Ending::OutOfMemory | Ending::TooMuchOutput | Ending::Stopped
    )
}
