//! What became of each call, one line each, written by many recorders at once.
//!
//! A line is written with one `write` to a file opened for appending, so lines of parallel calls do not mix.

use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// A call was seen.
    Seen,
    /// It was kept, or is equal to one that was.
    Kept {
        /// The address of the input.
        address: String,
        /// What the input lacks.
        notes: Vec<String>,
    },
    /// It was not kept.
    LeftOut {
        /// Why.
        reason: String,
    },
}

/// The journal of a session.
pub fn path(session: &Path) -> PathBuf {
    session.join("calls")
}

/// Adds a line.
pub fn write(session: &Path, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    OpenOptions::new().append(true).create(true).open(path(session))?.write_all(&text)
}

/// The calls of a session, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls seen.
    pub n_calls: usize,
    /// Addresses of the inputs kept.
    pub kept: BTreeSet<String>,
    /// Calls that were kept; equal ones count each.
    pub n_kept_calls: usize,
    /// Calls not kept, by reason.
    pub left_out: BTreeMap<String, usize>,
    /// Distinct inputs by what they lack.
    pub notes: BTreeMap<String, usize>,
}

impl Tally {
    /// Counts the lines of a session's journal; none if no call was seen.
    pub fn of(session: &Path) -> io::Result<Self> {
        match fs::read_to_string(path(session)) {
            Ok(text) => Ok(Self::count(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Calls whose recorder was killed before it had finished.
    pub fn n_unfinished(&self) -> usize {
        let finished = self.n_kept_calls + self.left_out.values().sum::<usize>();
        self.n_calls.saturating_sub(finished)
    }

    fn count(text: &str) -> Self {
        let mut tally = Self::default();
        // A full disk may leave half a line; the call then counts as unfinished.
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match line {
                Line::Seen => tally.n_calls += 1,
                Line::Kept { address, notes } => {
                    tally.n_kept_calls += 1;
                    if tally.kept.insert(address) {
                        for note in notes {
                            *tally.notes.entry(note).or_default() += 1;
                        }
                    }
                }
                Line::LeftOut { reason } => *tally.left_out.entry(reason).or_default() += 1,
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_calls_are_one_input_and_a_half_written_line_is_an_unfinished_call() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Tally::of(folder.path()).unwrap(), Tally::default());
        let kept = Line::Kept { address: "a".into(), notes: vec!["lacks".into()] };
        for line in [&Line::Seen, &kept, &Line::Seen, &kept, &Line::Seen, &Line::Seen] {
            write(folder.path(), line).unwrap();
        }
        write(folder.path(), &Line::LeftOut { reason: "large".into() }).unwrap();
        let mut text = fs::read_to_string(path(folder.path())).unwrap();
        text.push_str("{\"kept\":{\"addr");
        let tally = Tally::count(&text);
        assert_eq!((tally.n_calls, tally.kept.len(), tally.n_kept_calls), (4, 1, 2));
        assert_eq!(tally.notes, BTreeMap::from([("lacks".to_string(), 1)]));
        assert_eq!(tally.n_unfinished(), 1);
    }
}
