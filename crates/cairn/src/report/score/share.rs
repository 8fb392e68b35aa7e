//! The share of mutants that was killed, as far as it is known.

use cairn_mutants::analysis::Score;
use serde::Serialize;
use std::fmt;

/// A share in percent. While mutants are pending it lies between two bounds; otherwise these are equal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// If no pending mutant is killed.
    pub least: f64,
    /// If all are.
    pub most: f64,
}

impl Share {
    /// Killed of all that can be decided; `None` if there is none.
    pub fn of_all(score: &Score) -> Option<Self> {
        Self::new(score, score.n_killed() + score.n_survived() + score.n_not_reached)
    }

    /// Killed of those that are reached and can be decided; `None` if there is none. What is pending may turn out to be
    /// reached.
    pub fn of_reached(score: &Score) -> Option<Self> {
        Self::new(score, score.n_killed() + score.n_survived())
    }

    fn new(score: &Score, n_decided: usize) -> Option<Self> {
        let whole = n_decided + score.n_pending;
        let percent = |part: usize| part as f64 * 100.0 / whole as f64;
        (whole > 0).then(|| Self {
            least: percent(score.n_killed()),
            most: percent(score.n_killed() + score.n_pending),
        })
    }

    /// The share, if nothing is pending that could change it.
    pub fn exact(self) -> Option<f64> {
        (self.least == self.most).then_some(self.least)
    }
}

/// `81.2%`, or `40.0–85.0%`.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exact() {
            Some(percent) => write!(f, "{percent:.1}%"),
            None => write!(f, "{:.1}–{:.1}%", self.least, self.most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn score(n_killed: usize, n_survived: usize, n_not_reached: usize, n_pending: usize) -> Score {
        Score {
            killed: BTreeMap::from([("output", n_killed)]),
            n_unnoticed: n_survived,
            n_not_reached,
            n_pending,
            ..Score::default()
        }
    }

    fn shown(share: Option<Share>) -> String {
        share.map_or_else(|| "–".into(), |share| share.to_string())
    }

    #[test]
    fn pending_mutants_leave_a_range() {
        let done = score(3, 1, 1, 0);
        assert_eq!(
            (shown(Share::of_all(&done)), shown(Share::of_reached(&done))),
            ("60.0%".into(), "75.0%".into())
        );
        let partial = score(3, 1, 0, 4);
        assert_eq!(shown(Share::of_all(&partial)), "37.5–87.5%");
        assert_eq!(shown(Share::of_reached(&partial)), "37.5–87.5%");
        assert_eq!(shown(Share::of_reached(&score(0, 0, 0, 2))), "0.0–100.0%");
    }

    #[test]
    fn without_anything_to_decide_there_is_no_share() {
        assert_eq!(Share::of_all(&score(0, 0, 0, 0)), None);
        assert_eq!(Share::of_reached(&score(0, 0, 5, 0)), None);
        assert_eq!(shown(Share::of_all(&score(0, 0, 5, 0))), "0.0%");
    }
}
