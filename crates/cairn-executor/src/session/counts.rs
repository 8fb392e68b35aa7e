//! What happened in a session.

use super::why::WhyFresh;
use std::collections::BTreeMap;

/// Counts since the session was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Runs judged in the session.
    pub n_live: u64,
    /// Buffers that the harness was asked to change itself.
    pub n_changes: u64,
    /// Batches handed over.
    pub n_batches: u64,
    /// Runs made in a fresh process, by reason.
    pub n_fresh: BTreeMap<String, u64>,
    /// Runs in the session that died of a signal.
    pub n_crashes: u64,
    /// Runs in the session that ran out of time.
    pub n_hangs: u64,
    /// Results that failed their check, or that nobody should have written.
    pub n_ruined: u64,
    /// Runners replaced because of their age or size.
    pub n_recycled: u64,
    /// Runners in all.
    pub n_runners: u64,
    /// Times the template was started.
    pub n_starts: u64,
}

impl SessionCounts {
    /// Runs made in a fresh process, for any reason.
    pub fn n_fresh_in_all(&self) -> u64 {
        self.n_fresh.values().sum()
    }

    pub(super) fn note_fresh(&mut self, why: &WhyFresh) {
        *self.n_fresh.entry(why.to_string()).or_default() += 1;
        self.n_ruined += u64::from(matches!(why, WhyFresh::Damaged));
    }
}
