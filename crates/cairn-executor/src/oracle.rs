//! What gives a mutant away.
//!
//! The *differential* oracle compares the outcome of a mutant with the original's, part by part; an [`Oracle`] chooses
//! the parts. The *implicit* one needs no comparison: a crash, a hang, a report of a sanitizer where the original had
//! none. Neither judges an input on which the original itself goes wrong ([`Unusable`]), and parts the original does not
//! repeat are masked ([`Masks`]).
//!
//! This module sees outcomes and runs nothing, except through a comparison the caller passes in.

use crate::{
    compare::{CompareFailure, Compared},
    error::ExecutorError,
    stability::Stability,
};
use cairn_model::{
    Ending, KillReason, Outcome, Verdict,
    outcome::{Captured, FileChange},
};
use std::{collections::BTreeSet, convert::Infallible, fmt};

/// Which parts of an outcome count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oracle {
    /// The exit status. Default: yes.
    pub exit: bool,
    /// Standard output. Default: yes.
    pub stdout: bool,
    /// Standard error. Default: no, because programs write addresses and times there.
    pub stderr: bool,
    /// Files below the scratch folder. Default: yes.
    pub files: bool,
    /// What a harness returned. Default: yes.
    pub harness_return: bool,
    /// What a harness passed to `cairn_output`. Default: yes.
    pub harness_output: bool,
}

impl Default for Oracle {
    fn default() -> Self {
        Self {
            exit: true,
            stdout: true,
            stderr: false,
            files: true,
            harness_return: true,
            harness_output: true,
        }
    }
}

/// Parts of the outcome that the original does not repeat, by the names [`Outcome::compare`] gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Masks {
    parts: BTreeSet<String>,
}

impl Masks {
    /// What two runs of the original show to be unstable.
    pub fn of(stability: &Stability) -> Self {
        Self { parts: stability.unstable.iter().cloned().collect() }
    }

    /// The same, and these parts besides.
    pub fn and(&self, parts: &[String]) -> Self {
        Self { parts: self.parts.iter().chain(parts).cloned().collect() }
    }

    /// The masked parts, to be reported. Coverage may be among them, which no oracle looks at.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(String::as_str)
    }

    /// Whether nothing is masked.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn hide(&self, part: &str) -> bool {
        self.parts.contains(part)
    }
}

/// Why nothing can be concluded from an input: the original itself does not come to a proper end with it, or not always
/// to the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// The original dies of this signal.
    Crashes(i32),
    /// A sanitizer stops the original.
    Sanitizer,
    /// The original does not come to an end.
    Hangs,
    /// The original runs out of memory.
    Memory,
    /// The original writes without end.
    TooMuchOutput,
    /// The input is not one the program wants.
    Assumption,
    /// The input was made for another version of the program.
    Delivery,
    /// The sandbox ends the original because of this system call.
    Forbidden(String),
    /// The original ends in one way, and then in another.
    Unstable,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crashes(signal) => write!(f, "the original dies of signal {signal}"),
            Self::Sanitizer => f.write_str("a sanitizer stops the original"),
            Self::Hangs => f.write_str("the original does not come to an end"),
            Self::Memory => f.write_str("the original runs out of memory"),
            Self::TooMuchOutput => f.write_str("the original writes without end"),
            Self::Assumption => f.write_str("an assumption of the program is false"),
            Self::Delivery => f.write_str("the input was made for another version of the program"),
            Self::Forbidden(call) => write!(f, "the sandbox ends the original because of `{call}`"),
            Self::Unstable => f.write_str("the original does not always end in the same way"),
        }
    }
}

/// What a mutant is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'a> {
    /// What counts.
    pub oracle: &'a Oracle,
    /// What the original does.
    pub original: &'a Outcome,
    /// What of it is not always the same.
    pub masks: &'a Masks,
}

/// What came of judging with a user's comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// This was concluded.
    Verdict(Verdict),
    /// The comparison went wrong, so nothing was.
    CompareFailed(CompareFailure),
}

impl Oracle {
    /// Whether anything can be concluded from an input, and if not, why.
    pub fn check(&self, original: &Outcome, masks: &Masks) -> Result<(), Unusable> {
        if masks.hide("ending") {
            return Err(Unusable::Unstable);
        }
        match &original.ending {
            Ending::Exited { .. } if is_sanitizer_report(&original.stderr) => Err(Unusable::Sanitizer),
            Ending::Exited { .. } => Ok(()),
            Ending::Signalled { signal } => Err(Unusable::Crashes(*signal)),
            Ending::TimedOut | Ending::OutOfFuel | Ending::Stopped => Err(Unusable::Hangs),
            Ending::OutOfMemory => Err(Unusable::Memory),
            Ending::TooMuchOutput => Err(Unusable::TooMuchOutput),
            Ending::AssumptionFailed => Err(Unusable::Assumption),
            Ending::DeliveryMismatch => Err(Unusable::Delivery),
            Ending::Forbidden { what } => Err(Unusable::Forbidden(what.clone())),
            // Nobody arms one on the original when it is to be judged.
            Ending::GuidepostBroken => Err(Unusable::Unstable),
        }
    }

    /// How `mutant` gives itself away, if it does. An original that is [`Unusable`] gives nothing away.
    pub fn judge(&self, original: &Outcome, mutant: &Outcome, masks: &Masks) -> Option<KillReason> {
        Reference { oracle: self, original, masks }.judge(mutant)
    }
}

impl Reference<'_> {
    /// How `mutant` gives itself away, if it does.
    pub fn judge(&self, mutant: &Outcome) -> Option<KillReason> {
        self.verdict(mutant).kill_reason()
    }

    /// What follows from an outcome of `mutant`: `Undecided` where the sandbox ended it, and where all that counts is
    /// equal as far as it was kept, but something was cut off.
    pub fn verdict(&self, mutant: &Outcome) -> Verdict {
        let Ok(verdict) = self.conclude(mutant, |parts| Ok::<_, Infallible>(parts.differ()));
        verdict
    }

    /// Likewise, but where the program's main output differs (what a harness passes to `cairn_output`, otherwise
    /// standard output), `compare` has the last word.
    pub fn judge_with(
        &self,
        mutant: &Outcome,
        mut compare: impl FnMut(&[u8], &[u8]) -> Result<Compared, ExecutorError>,
    ) -> Result<Judged, ExecutorError> {
        let verdict = self.conclude(mutant, |parts| match parts.differ() {
            Differ::Yes if parts.is_main && !parts.is_cut() => {
                match compare(&parts.original.bytes.0, &parts.mutant.bytes.0).map_err(Stop::Error)? {
                    Compared::Same => Ok(Differ::No),
                    Compared::Different => Ok(Differ::Yes),
                    Compared::Failed(failure) => Err(Stop::Failed(failure)),
                }
            }
            // Of what was cut off the rest might make a user's comparison see it otherwise.
            Differ::Yes if parts.is_main => Ok(Differ::Unknown),
            differ => Ok(differ),
        });
        match verdict {
            Ok(verdict) => Ok(Judged::Verdict(verdict)),
            Err(Stop::Failed(failure)) => Ok(Judged::CompareFailed(failure)),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    /// Tells every part of the original's outcome that verdicts depend on, by name, always in the same order. Masked
    /// parts are told by name only. An original that does the same as before tells the same as before.
    pub fn tell_parts(&self, mut tell: impl FnMut(&str, &[u8])) {
        let Self { oracle, original, masks } = *self;
        // Whatever does not end by an exit judges nobody.
        let code = match original.ending {
            Ending::Exited { code } if oracle.exit => vec![code],
            Ending::Exited { .. } => Vec::new(),
            _ => format!("{:?}", original.ending).into_bytes(),
        };
        tell("ending", &code);
        if let Some(value) = original.harness_return {
            let counts = oracle.harness_return && !masks.hide("harness return");
            // That there is one decides which output is the main one.
            tell("harness return", &if counts { value.to_le_bytes().to_vec() } else { Vec::new() });
        }
        for Stream { counts, name, original, .. } in self.streams(original) {
            match masks.hide(name) {
                _ if !counts => {}
                true => tell("masked", name.as_bytes()),
                false => tell_captured(name, original, &mut tell),
            }
        }
        if !oracle.files {
            return;
        }
        tell("files cut", &[u8::from(original.files_cut)]);
        for part in masks.parts().filter(|part| part.starts_with("file ")) {
            tell("masked", part.as_bytes());
        }
        for (path, change) in &original.files {
            let name = format!("file {path}");
            match change {
                _ if masks.hide(&name) => {}
                FileChange::Written { content, mode } => {
                    tell(&name, &mode.to_le_bytes());
                    tell_captured(&name, content, &mut tell);
                }
                other => tell(&name, format!("{other:?}").as_bytes()),
            }
        }
    }

    fn conclude<E>(
        &self,
        mutant: &Outcome,
        mut differ: impl FnMut(Parts<'_>) -> Result<Differ, E>,
    ) -> Result<Verdict, E> {
        let Self { oracle, original, masks } = *self;
        if oracle.check(original, masks).is_err() {
            return Ok(Verdict::Survived);
        }
        let killed = |reason| Ok(Verdict::Killed(reason));
        let has_report = is_sanitizer_report(&mutant.stderr);
        let same_code = match &mutant.ending {
            Ending::Exited { .. } | Ending::Signalled { signal: libc::SIGABRT }
                if has_report && mutant.ending != original.ending =>
            {
                return killed(KillReason::Sanitizer);
            }
            Ending::Exited { .. } => mutant.ending == original.ending,
            Ending::Signalled { signal } => return killed(KillReason::Crash(*signal)),
            Ending::OutOfFuel => return killed(KillReason::Fuel),
            Ending::TimedOut | Ending::Stopped => return killed(KillReason::Timeout),
            Ending::OutOfMemory => return killed(KillReason::Memory),
            Ending::TooMuchOutput => return killed(KillReason::TooMuchOutput),
            // The runtime ends the program with a status of its own.
            Ending::AssumptionFailed | Ending::DeliveryMismatch => false,
            Ending::Forbidden { .. } | Ending::GuidepostBroken => return Ok(Verdict::Undecided),
        };
        if oracle.exit && !same_code {
            return killed(KillReason::Exit);
        }
        if oracle.harness_return
            && !masks.hide("harness return")
            && original.harness_return != mutant.harness_return
        {
            return killed(KillReason::Output);
        }
        let mut is_undecided = false;
        for Stream { counts, name, original, mutant, is_main } in self.streams(mutant) {
            if !counts || masks.hide(name) {
                continue;
            }
            match differ(Parts { original, mutant, is_main })? {
                Differ::Yes => return killed(KillReason::Output),
                Differ::Unknown => is_undecided = true,
                Differ::No => {}
            }
        }
        if oracle.files {
            match self.files_differ(mutant) {
                Differ::Yes => return killed(KillReason::Files),
                Differ::Unknown => is_undecided = true,
                Differ::No => {}
            }
        }
        Ok(if is_undecided { Verdict::Undecided } else { Verdict::Survived })
    }

    /// What the original wrote, and `mutant`.
    fn streams<'a>(&'a self, mutant: &'a Outcome) -> [Stream<'a>; 3] {
        let Self { oracle, original, .. } = *self;
        let is_harness = original.harness_return.is_some();
        [
            Stream {
                counts: oracle.stdout,
                name: "stdout",
                original: &original.stdout,
                mutant: &mutant.stdout,
                is_main: !is_harness,
            },
            Stream {
                counts: oracle.stderr,
                name: "stderr",
                original: &original.stderr,
                mutant: &mutant.stderr,
                is_main: false,
            },
            Stream {
                counts: oracle.harness_output,
                name: "harness output",
                original: &original.harness_output,
                mutant: &mutant.harness_output,
                is_main: is_harness,
            },
        ]
    }

    fn files_differ(&self, mutant: &Outcome) -> Differ {
        let original = self.original;
        let is_cut = original.files_cut || mutant.files_cut;
        let mut differ = if is_cut { Differ::Unknown } else { Differ::No };
        let paths: BTreeSet<_> = original.files.keys().chain(mutant.files.keys()).collect();
        for path in paths.into_iter().filter(|path| !self.masks.hide(&format!("file {path}"))) {
            let this = match (original.files.get(path), mutant.files.get(path)) {
                (
                    Some(FileChange::Written { content: one, mode }),
                    Some(FileChange::Written { content: other, mode: other_mode }),
                ) if mode == other_mode => Parts { original: one, mutant: other, is_main: false }.differ(),
                // A file that was not looked at on one side may be there all the same.
                (one, other) if (one.is_none() || other.is_none()) && is_cut => Differ::Unknown,
                (one, other) if one == other => Differ::No,
                _ => Differ::Yes,
            };
            match this {
                Differ::Yes => return Differ::Yes,
                Differ::Unknown => differ = Differ::Unknown,
                Differ::No => {}
            }
        }
        differ
    }
}

/// Whether every kill in a session counts only if a fresh process agrees, not just the first of a mutant: a crash may be due to
/// what earlier mutants left, time and memory to a busy machine. Where the original is unstable output needs it too, which the
/// caller knows.
pub fn needs_confirmation(reason: KillReason) -> bool {
    !matches!(reason, KillReason::Output | KillReason::Exit)
}

fn tell_captured(name: &str, captured: &Captured, tell: &mut impl FnMut(&str, &[u8])) {
    tell(name, &captured.bytes.0);
    if captured.is_truncated() {
        tell("cut", name.as_bytes());
    }
}

/// Two versions of one stream, and whether it counts.
struct Stream<'a> {
    counts: bool,
    name: &'static str,
    original: &'a Captured,
    mutant: &'a Captured,
    is_main: bool,
}

/// Two versions of one stream or file.
#[derive(Clone, Copy)]
struct Parts<'a> {
    original: &'a Captured,
    mutant: &'a Captured,
    /// Whether this is what the program is about.
    is_main: bool,
}

enum Differ {
    Yes,
    No,
    Unknown,
}

impl Parts<'_> {
    /// What was kept decides; beyond it nothing is known.
    fn differ(&self) -> Differ {
        let (one, other) = (&self.original.bytes.0, &self.mutant.bytes.0);
        let both = one.len().min(other.len());
        if one[..both] != other[..both] {
            return Differ::Yes;
        }
        match (self.original.is_truncated(), self.mutant.is_truncated()) {
            (false, false) if one.len() == other.len() => Differ::No,
            (false, false) => Differ::Yes,
            _ => Differ::Unknown,
        }
    }

    fn is_cut(&self) -> bool {
        self.original.is_truncated() || self.mutant.is_truncated()
    }
}

enum Stop {
    Failed(CompareFailure),
    Error(ExecutorError),
}

/// How reports of sanitizers begin, or end.
const REPORTS: [&[u8]; 5] = [
    b"ERROR: AddressSanitizer",
    b"ERROR: LeakSanitizer",
    b"WARNING: MemorySanitizer",
    b"WARNING: ThreadSanitizer",
    b"SUMMARY: UndefinedBehaviorSanitizer",
];

/// What stands between the place and the error in a report on undefined behaviour.
const RUNTIME_ERROR: &[u8] = b": runtime error: ";

fn is_sanitizer_report(stderr: &Captured) -> bool {
    stderr.bytes.0.split(|byte| *byte == b'\n').any(|line| {
        REPORTS.iter().any(|report| position(line, report).is_some())
            || position(line, RUNTIME_ERROR).is_some_and(|at| is_place(&line[..at]))
    })
}

fn position(line: &[u8], text: &[u8]) -> Option<usize> {
    line.windows(text.len()).position(|window| window == text)
}

/// Whether this is `file:line:column`.
fn is_place(text: &[u8]) -> bool {
    let mut parts = text.rsplitn(3, |byte| *byte == b':');
    let mut is_number =
        || parts.next().is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    is_number() && is_number() && parts.next().is_some_and(|file| !file.is_empty())
}

#[cfg(test)]
mod tests;
