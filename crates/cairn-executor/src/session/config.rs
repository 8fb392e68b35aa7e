//! What a session is to do.

use crate::config::RunConfig;
use cairn_abi::session::{RunnerMode, wants};
use cairn_model::Ending;

/// Limits and sizes of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// Limits of every run.
    pub run: RunConfig,
    /// What a runner keeps from one input to the next. Default: nothing (`Snapshot`).
    pub mode: RunnerMode,
    /// The most inputs handed over at once. Default: 64.
    pub max_batch: usize,
    /// Bytes for the inputs of a batch; a larger input runs in a fresh process. Default: 4 MiB.
    pub inputs_size: usize,
    /// Bytes for what the runs of a batch leave. Default: 16 MiB.
    pub captured_size: usize,
    /// Runs after which a runner is replaced. Default: 100,000.
    pub recycle_after: u64,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            run: RunConfig::default(),
            mode: RunnerMode::Snapshot,
            max_batch: 64,
            inputs_size: 4 << 20,
            captured_size: 16 << 20,
            recycle_after: 100_000,
        }
    }
}

/// What a caller wants to know of each run. The less, the quicker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// When to copy the counters.
    pub counters: WantedCounters,
    /// Whether to keep what the run wrote: standard output and error, and the harness output. Otherwise only their
    /// lengths are known.
    pub output: bool,
}

/// When the counters of a run are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedCounters {
    /// Never.
    Never,
    /// When the run reached something the baseline lacks, or was out of time: they show where it was then.
    IfNew,
    /// Always.
    Always,
}

impl Wants {
    /// Everything, as a fresh run gives it.
    pub const EVERYTHING: Self = Self { counters: WantedCounters::Always, output: true };
    /// Counters whatever the run reached, and nothing else.
    pub const COUNTERS: Self = Self { counters: WantedCounters::Always, output: false };

    /// Counters of runs that reached something new.
    pub const NOVELTY: Self = Self { counters: WantedCounters::IfNew, output: false };

    pub(super) fn bits(self) -> u32 {
        let counters = match self.counters {
            WantedCounters::Never => 0,
            WantedCounters::IfNew => wants::COUNTERS_IF_NEW,
            WantedCounters::Always => wants::COUNTERS,
        };
        counters | if self.output { wants::OUTPUT } else { 0 }
    }

    /// Whether the counters of a run with `n_new` new ones that ended so are wanted.
    pub(super) fn counters_of(self, n_new: u32, ending: &Ending) -> bool {
        match self.counters {
            WantedCounters::Never => false,
            WantedCounters::IfNew => n_new > 0 || *ending == Ending::TimedOut,
            WantedCounters::Always => true,
        }
    }
}
