//! How long somebody waits for an answer.

use crate::signals::Signals;
use cairn_solver::Budget;
use std::time::{Duration, Instant};

/// The end of a search: a time, or a signal that asks for it.
pub struct Until {
    end: Option<Instant>,
    signals: Option<Signals>,
}

impl Until {
    /// At most `patience` from now on, and until one of `signals` comes.
    pub fn new(patience: Option<Duration>, signals: Option<Signals>) -> Self {
        Self { end: patience.and_then(|patience| Instant::now().checked_add(patience)), signals }
    }

    /// Why it is over, if it is.
    pub fn over(&self) -> Option<&'static str> {
        if self.signals.as_ref().is_some_and(Signals::has_caught) {
            return Some("it was interrupted");
        }
        self.end.is_some_and(|end| end <= Instant::now()).then_some("its time was up; `--for` gives it more")
    }

    /// A budget that ends then at the latest.
    pub fn limit(&self, budget: Budget) -> Budget {
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        Budget { timeout: left.map_or(budget.timeout, |left| left.min(budget.timeout)), ..budget }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_limits_every_question() {
        let budget = Budget { timeout: Duration::from_secs(7), ..Budget::default() };
        let until = Until::new(Some(Duration::from_secs(3600)), None);
        assert_eq!((until.over(), until.limit(budget).timeout), (None, Duration::from_secs(7)));
        let until = Until::new(Some(Duration::ZERO), None);
        assert!(until.over().is_some() && until.limit(budget).timeout.is_zero());
        let until = Until::new(None, None);
        assert_eq!((until.over(), until.limit(budget).timeout), (None, Duration::from_secs(7)));
    }
}
