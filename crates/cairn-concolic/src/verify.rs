//! Looks whether a new input did what it was made for.

use crate::{
    event::Event,
    fixed::Origin,
    path::{Path, Step},
};
use cairn_abi::record::GuidepostState;
use cairn_model::ConditionId;
use std::fmt;

/// What a run of a new input did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The same up to the step, and otherwise there.
    Flipped,
    /// The same up to the step, and the value there is the one that was asked for.
    Valued,
    /// The same as before, up to the step and there.
    Same,
    /// It left the way before the step.
    Diverged {
        /// How many decisions it took as before.
        after: usize,
    },
    /// It went the same way and ended, or its trace did, before the step.
    Ended {
        /// How many decisions it took as before.
        after: usize,
    },
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flipped => write!(f, "flipped"),
            Self::Valued => write!(f, "has the value"),
            Self::Same => write!(f, "not flipped"),
            Self::Diverged { after: 1 } => write!(f, "diverged after 1 decision"),
            Self::Diverged { after } => write!(f, "diverged after {after} decisions"),
            Self::Ended { after: 1 } => write!(f, "ended after 1 decision"),
            Self::Ended { after } => write!(f, "ended after {after} decisions"),
        }
    }
}

/// Compares the path of a new input with the one it was made from by flipping `step`.
///
/// What counts are the program's own decisions that depend on the input: library functions may have found another way to the
/// same answer. They count where `step` is a decision of one. Where both runs noted all conditions of the program, all of
/// them count. A guidepost that was broken and is satisfied now is flipped too.
pub fn verify(path: &Path, step: usize, new: &Path) -> Verification {
    compare(path, step, new, notes_all(path) && notes_all(new))
}

/// Whether a run of an input that satisfies all that was asked for took the way up to `step`, and left it there: it decided otherwise, even
/// if what it decided there is not noted because it depends on this input no longer.
pub(crate) fn leaves_at(path: &Path, step: usize, new: &Path) -> bool {
    let everything = notes_all(path) && notes_all(new);
    match compare(path, step, new, everything) {
        Verification::Flipped => true,
        Verification::Diverged { after } | Verification::Ended { after } => {
            after + 1 == wanted(path, step, everything).len()
        }
        Verification::Valued | Verification::Same => false,
    }
}

/// The decisions of a path up to a step that count.
fn wanted(path: &Path, step: usize, everything: bool) -> Vec<Decision> {
    let counts = Counting::of(path, step, everything);
    path.steps()[..=step].iter().filter_map(|step| counts.decision(step)).collect()
}

fn compare(path: &Path, step: usize, new: &Path, everything: bool) -> Verification {
    let counts = Counting::of(path, step, everything);
    let wanted = wanted(path, step, everything);
    let mut taken = new.steps().iter().filter_map(|step| counts.decision(step));
    let Some((last, before)) = wanted.split_last() else { return Verification::Same };
    for (after, decision) in before.iter().enumerate() {
        match taken.next() {
            Some(other) if other == *decision => {}
            Some(_) => return Verification::Diverged { after },
            None => return Verification::Ended { after },
        }
    }
    match taken.next() {
        Some(decision) if decision == *last => Verification::Same,
        Some(decision) if decision.at == last.at => Verification::Flipped,
        Some(_) => Verification::Diverged { after: before.len() },
        None => Verification::Ended { after: before.len() },
    }
}

/// Looks once more, at traces of both inputs that note all conditions, whether they depend on the input or not.
///
/// What depended on the input in one run need not in another: a read that fills its buffer has the same result for every
/// larger file.
pub fn verify_whole(path: &Path, step: usize, whole: &Path, new: &Path) -> Option<Verification> {
    let name = |step: &Step| match step.event {
        Event::Conditional { condition: Some(condition), occurrence, expression: Some(_), .. } => {
            Some((condition, occurrence))
        }
        _ => None,
    };
    let asked = name(&path.steps()[step])?;
    let step = whole.steps().iter().position(|step| name(step) == Some(asked))?;
    Some(compare(whole, step, new, true))
}

/// Compares the path of a new input with the one it was made from by asking for `value` at `step`, the evaluation of a site.
pub fn verify_value(path: &Path, step: usize, value: u64, new: &Path) -> Verification {
    let counts = Counting { library: false, everything: notes_all(path) && notes_all(new) };
    let before: Vec<Decision> =
        path.steps()[..step].iter().filter_map(|step| counts.decision(step)).collect();
    let Event::SiteValue { site, spot, evaluation, .. } = path.steps()[step].event else {
        return Verification::Same;
    };
    let mut after = 0;
    for step in new.steps() {
        match step.event {
            Event::SiteValue { site: s, spot: n, evaluation: e, value: now, .. }
                if (s, n, e) == (site, spot, evaluation) =>
            {
                return match (after == before.len(), now == value) {
                    (true, true) => Verification::Valued,
                    (true, false) => Verification::Same,
                    (false, _) => Verification::Diverged { after },
                };
            }
            _ => match (counts.decision(step), before.get(after)) {
                (Some(taken), Some(wanted)) if taken == *wanted => after += 1,
                (Some(_), _) => return Verification::Diverged { after },
                (None, _) => {}
            },
        }
    }
    Verification::Ended { after }
}

/// Whether a run noted conditions that do not depend on the input.
fn notes_all(path: &Path) -> bool {
    let is_concrete =
        |step: &Step| matches!(step.event, Event::Conditional { condition: Some(_), expression: None, .. });
    path.steps().iter().any(is_concrete)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decision {
    at: At,
    direction: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Condition(Option<ConditionId>),
    Guidepost(u32),
}

/// Which decisions count.
#[derive(Clone, Copy)]
struct Counting {
    library: bool,
    everything: bool,
}

impl Counting {
    /// Those that count where a step is decided otherwise.
    fn of(path: &Path, step: usize, everything: bool) -> Self {
        Self { library: path.steps()[step].origin != Origin::Program, everything }
    }

    fn decision(self, step: &Step) -> Option<Decision> {
        match step.event {
            Event::Conditional { condition, direction, expression, .. } => {
                let is_noted = expression.is_some() || (self.everything && condition.is_some());
                let is_asked = self.library || step.origin == Origin::Program;
                (is_noted && is_asked).then_some(Decision { at: At::Condition(condition), direction })
            }
            Event::Guidepost { guidepost, state, expression: Some(_), .. }
                if state != GuidepostState::Reached =>
            {
                Some(Decision { at: At::Guidepost(guidepost), direction: state == GuidepostState::Satisfied })
            }
            _ => None,
        }
    }
}
