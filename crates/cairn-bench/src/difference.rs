//! How two runs of one input differ in what counts: everything they did, and every counter.

use cairn_executor::Execution;
use cairn_model::outcome::{Comparison, Ending};
use std::collections::BTreeSet;

/// What a comparison of two runs says.
#[derive(Debug, PartialEq)]
pub enum Difference {
    /// They are the same.
    None,
    /// They are the same as far as was kept of what they wrote, or ran out of time, one of them at least.
    Unknown,
    /// These parts differ: `ending`, `stdout`, `file out.txt`, `counters`.
    In(BTreeSet<String>),
}

/// Compares two runs. What a run did by the time the clock ended it says nothing but that.
pub fn difference(one: &Execution, other: &Execution) -> Difference {
    let is_out = |run: &Execution| run.outcome.ending == Ending::TimedOut;
    // On a busy machine one of two slow runs may be in time.
    let is_slow = |run: &Execution, beside: &Execution| 4 * run.outcome.elapsed >= beside.outcome.elapsed;
    if is_out(one) && (is_out(other) || is_slow(other, one)) || is_out(other) && is_slow(one, other) {
        return Difference::Unknown;
    }
    let compared = one.outcome.compare(&other.outcome);
    let mut parts = match &compared {
        Comparison::Different(parts) => parts.iter().cloned().collect(),
        Comparison::Same | Comparison::Unknown(_) => BTreeSet::new(),
    };
    if one.counters != other.counters {
        parts.insert(COUNTERS.into());
    }
    match compared {
        _ if !parts.is_empty() => Difference::In(parts),
        Comparison::Unknown(_) => Difference::Unknown,
        _ => Difference::None,
    }
}

const COUNTERS: &str = "counters";

impl Difference {
    /// The parts that differ, none if nothing does.
    pub fn parts(&self) -> BTreeSet<String> {
        match self {
            Self::In(parts) => parts.clone(),
            Self::None | Self::Unknown => BTreeSet::new(),
        }
    }

    /// What differs apart from parts that are known not to be stable.
    ///
    /// Files go together: where a program makes up names, no two runs have a file in common.
    pub fn beyond(&self, unstable: &BTreeSet<String>) -> BTreeSet<String> {
        let is_file = |part: &String| part.starts_with("file ");
        let files_are_unstable = unstable.iter().any(is_file);
        let is_known = |part: &String| unstable.contains(part) || files_are_unstable && is_file(part);
        self.parts().into_iter().filter(|part| !is_known(part)).collect()
    }
}

/// A sentence about the parts in which `found` differs from `expected`.
pub fn describe(parts: &BTreeSet<String>, found: &Execution, expected: &Execution) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let n_counters = found.counters.iter().zip(&expected.counters).filter(|(a, b)| a != b).count();
    format!(
        "{} differ: {:?} and {:?}, {n_counters} counters",
        parts.join(", "),
        found.outcome.ending,
        expected.outcome.ending,
    )
}

/// Runs that never were, each different from `execution` in the one part that is named: what a comparison must notice.
pub fn falsified(execution: &Execution) -> Vec<(&'static str, Execution)> {
    let mut stdout = execution.clone();
    stdout.outcome.stdout.bytes.0.push(b'!');
    stdout.outcome.stdout.total += 1;
    let mut ending = execution.clone();
    let code = match ending.outcome.ending {
        Ending::Exited { code } => code.wrapping_add(1),
        _ => 0,
    };
    ending.outcome.ending = Ending::Exited { code };
    let mut counters = execution.clone();
    // Without counters there is nothing to falsify, and nobody should believe that they are compared.
    match counters.counters.last_mut() {
        Some(counter) => *counter = counter.wrapping_add(1),
        None => return vec![("stdout", stdout), ("ending", ending)],
    }
    vec![("stdout", stdout), ("ending", ending), (COUNTERS, counters)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::channel::EndedBy;
    use cairn_model::{
        input::Bytes,
        outcome::{Captured, FileChange, Outcome},
    };
    use std::{collections::BTreeMap, time::Duration};

    fn execution() -> Execution {
        let captured = |bytes: &[u8]| Captured { bytes: Bytes(bytes.to_vec()), total: bytes.len() as u64 };
        let written = FileChange::Written { content: captured(b"x"), mode: 0o644 };
        Execution {
            outcome: Outcome {
                ending: Ending::Exited { code: 1 },
                stdout: captured(b"out"),
                stderr: captured(b"err"),
                files: BTreeMap::from([("made".into(), written)]),
                files_cut: false,
                harness_return: None,
                harness_output: Captured::default(),
                reached_main: Some(true),
                elapsed: Duration::ZERO,
            },
            counters: vec![0, 3, 255],
            path_hash: 0,
            stage: None,
            ended_by: EndedBy::Program,
            fuel_used: 0,
            trace: Vec::new(),
            n_trace_records: (0, 0),
            refused: Vec::new(),
            owners_left: Vec::new(),
        }
    }

    fn parts(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn where_the_clock_stopped_two_runs_is_chance() {
        let (mut one, mut other) = (execution(), execution());
        one.outcome.ending = Ending::TimedOut;
        one.outcome.elapsed = Duration::from_secs(1);
        other.outcome.elapsed = Duration::from_millis(100);
        assert_eq!(difference(&one, &other), Difference::In(parts(&["ending"])));
        other.outcome.elapsed = Duration::from_millis(900);
        assert_eq!(difference(&other, &one), Difference::Unknown);
        other.outcome.ending = Ending::TimedOut;
        other.outcome.stdout.bytes.0.push(b'!');
        assert_eq!(difference(&one, &other), Difference::Unknown);
    }

    #[test]
    fn every_change_is_noticed_and_named() {
        let original = execution();
        assert_eq!(difference(&original, &execution()), Difference::None);
        let falsified = falsified(&original);
        assert_eq!(falsified.len(), 3);
        for (part, other) in falsified {
            assert_eq!(difference(&other, &original), Difference::In(parts(&[part])));
            assert_eq!(difference(&original, &other), Difference::In(parts(&[part])));
        }
        let mut other = execution();
        other.outcome.stderr.bytes.0[0] ^= 1;
        other.outcome.files.clear();
        assert_eq!(difference(&other, &original).parts(), parts(&["stderr", "file made"]));
        other = execution();
        other.counters.pop();
        assert_eq!(difference(&other, &original).parts(), parts(&["counters"]));
    }

    #[test]
    fn what_was_cut_is_neither_same_nor_different() {
        let mut cut = execution();
        cut.outcome.stdout.total += 1000;
        assert_eq!(difference(&cut, &cut), Difference::Unknown);
        let mut other = cut.clone();
        other.counters[0] += 1;
        assert_eq!(difference(&cut, &other), Difference::In(parts(&["counters"])));
    }

    #[test]
    fn stable_parts_count_even_where_others_are_not() {
        let found = Difference::In(parts(&["stdout", "file b", "counters"]));
        assert_eq!(found.beyond(&parts(&["stdout", "file a"])), parts(&["counters"]));
        assert_eq!(found.beyond(&parts(&[])), found.parts());
    }
}
