//! Looks whether a new input did what it was made for.

use crate::{event::Event, path::Path};
use cairn_model::ConditionId;
use std::fmt;

/// What a run of a new input did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The same up to the step, and otherwise there.
    Flipped,
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
            Self::Same => write!(f, "not flipped"),
            Self::Diverged { after } => write!(f, "diverged after {after} decisions"),
            Self::Ended { after } => write!(f, "ended after {after} decisions"),
        }
    }
}

/// Compares the path of a new input with the one it was made from by flipping `step`.
///
/// What counts are decisions that depend on the input, those in library functions included.
pub fn verify(path: &Path, step: usize, new: &Path) -> Verification {
    let wanted: Vec<Decision> =
        path.steps()[..=step].iter().filter_map(|step| decision(&step.event)).collect();
    let mut taken = new.steps().iter().filter_map(|step| decision(&step.event));
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
        Some(decision) if decision.condition == last.condition => Verification::Flipped,
        Some(_) => Verification::Diverged { after: before.len() },
        None => Verification::Ended { after: before.len() },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decision {
    condition: Option<ConditionId>,
    direction: bool,
}

fn decision(event: &Event) -> Option<Decision> {
    match *event {
        Event::Conditional { condition, direction, expression: Some(_), .. } => {
            Some(Decision { condition, direction })
        }
        _ => None,
    }
}
