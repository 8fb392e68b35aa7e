//! Runs a target and learns what its values are made of.
//!
//! A [`SymbolicExecutor`] runs the symbolic view of a program, one fresh process an input. What comes back is a
//! [`SymbolicRun`]: the outcome as of any run, the records of the trace, and the table of nodes that records refer to.
//!
//! Everything but the outcome was written by the target. Sizes are checked here and records are taken apart; that nodes make
//! sense is for whoever reads them to check.

mod asked;
mod config;
mod run;
mod sources;

pub use self::{
    asked::{ArmedGuidepost, Asked},
    config::SymbolicConfig,
    run::{BadTrace, SymbolicRun},
};

use crate::{
    channel::SymbolicLayout,
    config::{RunConfig, Target},
    error::ExecutorError,
    executor::Executor,
    mutants::Arming,
};
use cairn_model::Input;

pub(crate) use self::sources::{size as sources_size, write as write_sources};

/// Runs the symbolic view of one target.
#[derive(Debug)]
pub struct SymbolicExecutor {
    executor: Executor,
    n_probes: usize,
}

impl SymbolicExecutor {
    /// Readies `target`, a symbolic view. `limits` are those of ordinary runs.
    pub fn new(target: Target, limits: RunConfig, config: SymbolicConfig) -> Result<Self, ExecutorError> {
        let layout = SymbolicLayout {
            sources: 0,
            n_nodes: config.n_nodes,
            tables: config.tables_size,
            n_probes: config.n_probes,
        };
        let run = RunConfig {
            wall_limit: limits.wall_limit.saturating_mul(config.patience),
            trace_level: config.trace_level,
            trace_size: config.trace_size,
            ..limits
        };
        let executor = Executor::with_regions(target, run, None, Some(layout))?;
        Ok(Self { executor, n_probes: config.n_probes })
    }

    /// The limits in force.
    pub fn config(&self) -> &RunConfig {
        self.executor.config()
    }

    /// What the next runs are asked. Fails if the view does not have a probe; see [`SymbolicConfig::n_probes`].
    pub fn ask(&mut self, asked: Asked) -> Result<(), ExecutorError> {
        if let Some(probe) = asked.probes().find(|probe| probe.index() >= self.n_probes) {
            return Err(ExecutorError::NoSuch { what: "probe", number: probe.0 });
        }
        self.executor.arm(Arming { asked, ..Arming::default() });
        Ok(())
    }

    /// Runs the target once.
    pub fn run(&mut self, input: &Input) -> Result<SymbolicRun, ExecutorError> {
        let execution = self.executor.run(input)?;
        Ok(run::collect(execution, self.executor.channel()))
    }
}
