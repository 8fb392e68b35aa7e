//! The time of a campaign: it goes on where it stopped.

use std::time::{Duration, Instant};

/// Time since a campaign began, time it did not run left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    before: Duration,
    start: Instant,
}

impl Clock {
    /// Goes on after `before`.
    pub(crate) fn after(before: Duration) -> Self {
        Self { before, start: Instant::now() }
    }

    /// Now.
    pub(crate) fn now(&self) -> Duration {
        self.before + self.start.elapsed()
    }
}
