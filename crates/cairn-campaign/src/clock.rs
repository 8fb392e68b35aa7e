//! The time of a campaign: it goes on where it stopped.

use cairn_executor::tree_time;
use std::{
    process,
    time::{Duration, Instant},
};

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

/// How long a measured processor time is good enough: asking for it reads a file for each process of the machine.
const GOOD_FOR: Duration = Duration::from_millis(20);

/// Processor time that a campaign has used, everything it runs included; what was built before it began is not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuClock {
    before: Duration,
    start: Duration,
    measured: (Instant, Duration),
}

impl CpuClock {
    /// Goes on after `before`.
    pub(crate) fn after(before: Duration) -> Self {
        let start = tree_time(process::id());
        Self { before, start, measured: (Instant::now(), start) }
    }

    /// Now, or a moment ago.
    pub(crate) fn now(&mut self) -> Duration {
        if self.measured.0.elapsed() > GOOD_FOR {
            // A process that ends while others are read may be missed for a moment.
            self.measured = (Instant::now(), tree_time(process::id()).max(self.measured.1));
        }
        self.before + (self.measured.1 - self.start)
    }
}
