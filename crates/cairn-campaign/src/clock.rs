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

/// How long a measured processor time is good enough at least, and for how many times what it took to measure: that reads a file for each
/// process of the machine.
const GOOD_FOR: Duration = Duration::from_millis(20);
const GOOD_FOR_TIMES: u32 = 50;

/// Processor time that a campaign has used, everything it runs included; what was built before it began is not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuClock {
    before: Duration,
    start: Duration,
    measured: (Instant, Duration),
    good_for: Duration,
}

impl CpuClock {
    /// Goes on after `before`.
    pub(crate) fn after(before: Duration) -> Self {
        let start = tree_time(process::id());
        Self { before, start, measured: (Instant::now(), start), good_for: GOOD_FOR }
    }

    /// Now, or a moment ago.
    pub(crate) fn now(&mut self) -> Duration {
        if self.measured.0.elapsed() > self.good_for {
            let begun = Instant::now();
            // A process that ends while others are read may be missed for a moment.
            self.measured.1 = tree_time(process::id()).max(self.measured.1);
            self.measured.0 = Instant::now();
            self.good_for = GOOD_FOR.max((self.measured.0 - begun) * GOOD_FOR_TIMES);
        }
        self.before + (self.measured.1 - self.start)
    }
}
