//! What a run did, as far as two builds of the same program must agree.

use cairn_model::{Ending, Outcome};
use std::{fmt, time::Duration};

/// What a run did, without what may differ between builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// It ended by itself: with this ending, output, files and answer of the harness.
    Ended(Box<Outcome>),
    /// It ran into a limit of time, steps, memory or output. Which comes first is up to the build.
    Endless,
}

impl From<Outcome> for Behaviour {
    fn from(mut outcome: Outcome) -> Self {
        match outcome.ending {
            Ending::TimedOut | Ending::OutOfFuel | Ending::OutOfMemory | Ending::TooMuchOutput => {
                Self::Endless
            }
            _ => {
                outcome.elapsed = Duration::ZERO;
                // Builds without our runtime cannot tell.
                outcome.reached_main = None;
                outcome.stderr = Default::default();
                Self::Ended(Box::new(outcome))
            }
        }
    }
}

impl Behaviour {
    /// Whether it died of a signal.
    pub fn is_death(&self) -> bool {
        matches!(self, Self::Ended(outcome) if matches!(outcome.ending, Ending::Signalled { .. }))
    }

    /// Whether it did not end.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Endless)
    }
}

/// In a line: `exited 0, printed "7\n", wrote out.txt`.
impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Ended(outcome) = self else { return f.write_str("did not end") };
        match &outcome.ending {
            Ending::Exited { code } => write!(f, "exited {code}")?,
            Ending::Signalled { signal } => write!(f, "signal {signal}")?,
            other => write!(f, "{other:?}")?,
        }
        let short = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        if outcome.stdout.total > 0 {
            write!(f, ", printed {:?}", short(&outcome.stdout.bytes.0))?;
        }
        if let Some(answer) = outcome.harness_return {
            write!(f, ", returned {answer}")?;
        }
        if outcome.harness_output.total > 0 {
            write!(f, ", gave {:?}", outcome.harness_output.bytes.0)?;
        }
        for (path, change) in &outcome.files {
            write!(f, ", {path} {}", short(format!("{change:?}").as_bytes()))?;
        }
        Ok(())
    }
}
