//! What is still judged when time runs out.

use cairn_model::Ending;
use cairn_strategy::Candidate;
use std::time::Duration;

/// Runs in which a hang takes all the time it may: to see whether it is one, and where.
const RUNS_OF_A_HANG: u32 = 2;

/// How urgently a candidate is judged; the first ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Haste {
    /// It was not seen to fail.
    Usual,
    /// It was seen to crash: never left out, and soon judged.
    Crash,
    /// It was seen to take all time, memory or disk, and will again.
    Hang,
}

impl Haste {
    /// By what was seen of it.
    pub(crate) fn of(candidate: &Candidate) -> Self {
        match &candidate.failed {
            None => Self::Usual,
            Some(Ending::Signalled { .. }) => Self::Crash,
            Some(_) => Self::Hang,
        }
    }

    /// Whether there is time to judge it; a run of the bare build may take `wall_limit`.
    pub(crate) fn is_in_time(self, left: Option<Duration>, wall_limit: Duration) -> bool {
        let Some(left) = left else { return true };
        match self {
            Self::Usual => !left.is_zero(),
            Self::Crash => true,
            Self::Hang => left >= wall_limit * RUNS_OF_A_HANG,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hangs_come_last_and_only_with_time_for_them() {
        assert!(Haste::Usual < Haste::Crash && Haste::Crash < Haste::Hang);
        let second = Duration::from_secs(1);
        let in_time = |left: Option<Duration>| {
            [Haste::Usual, Haste::Crash, Haste::Hang].map(|haste| haste.is_in_time(left, second))
        };
        assert_eq!(in_time(None), [true; 3]);
        assert_eq!(in_time(Some(2 * second)), [true; 3]);
        assert_eq!(in_time(Some(second)), [true, true, false]);
        assert_eq!(in_time(Some(Duration::ZERO)), [false, true, false]);
    }
}
