//! Runs the symbolic view for a search.

use cairn_abi::channel::TraceLevel;
use cairn_concolic::{
    Limits, Path, Recording, Regions,
    search::{Traced, Tracer},
};
use cairn_executor::{ExecutorError, SymbolicConfig, SymbolicExecutor, environment};
use cairn_model::{Ending, Input};
use cairn_search::Heuristic;

/// Runs the symbolic view of a target.
pub struct SymbolicTracer {
    executor: SymbolicExecutor,
    limits: Limits,
    n_runs: u64,
}

/// How many times longer than others a symbolic run may take where time is limited. Most that take longer hang, and a search has others
/// to make.
const PATIENCE: u32 = 4;

impl SymbolicTracer {
    /// What a heuristic needs to know of runs, and no more: a search makes thousands.
    pub fn config(heuristic: Heuristic, is_timed: bool) -> SymbolicConfig {
        let usual = SymbolicConfig::default();
        let trace_level = if heuristic.sees_whole_paths() { TraceLevel::All } else { TraceLevel::Symbolic };
        SymbolicConfig {
            trace_level,
            trace_size: 8 << 20,
            n_nodes: 1 << 20,
            tables_size: 4 << 20,
            // Otherwise decisions must not depend on how busy the machine is.
            patience: if is_timed { PATIENCE } else { usual.patience },
            ..usual
        }
    }

    /// With inputs that may have so many bytes in a region.
    pub fn new(executor: SymbolicExecutor, max_size: u64) -> Self {
        Self { executor, limits: Limits { max_size, ..Limits::default() }, n_runs: 0 }
    }

    /// How many runs were made.
    pub fn n_runs(&self) -> u64 {
        self.n_runs
    }
}

impl Tracer for SymbolicTracer {
    type Error = ExecutorError;

    fn trace(&mut self, input: &Input) -> Result<Traced, ExecutorError> {
        self.n_runs += 1;
        let run = self.executor.run(input)?;
        let is_complete = run.is_whole() && run.n_stale == 0 && run.unmodelled.is_empty();
        let is_cut = !run.is_whole();
        let ending = run.execution.outcome.ending;
        // What a limit or the sandbox has ended would have gone on.
        let is_ended =
            matches!(ending, Ending::Exited { .. } | Ending::Signalled { .. } | Ending::AssumptionFailed);
        let is_whole = is_complete && is_ended;
        let regions = Regions::new(input.clone(), environment(input)?, self.limits);
        let recording = Recording { records: &run.records, nodes: &run.nodes, tables: &run.tables };
        let path = Path::new(recording, regions);
        Ok(Traced::new(path, run.execution.counters, ending, is_whole).cut(is_cut))
    }
}
