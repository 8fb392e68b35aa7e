//! Runs a target and learns what its values are made of.
//!
//! A [`SymbolicExecutor`] runs the symbolic view of a program. What comes back is a [`SymbolicRun`]: the outcome as of any run,
//! the records of the trace, and the table of nodes that records refer to.
//!
//! Runs are made in a session where the target allows it, one input a batch: there is one set of lists, which the host reads
//! before the next run writes over it. A run in any doubt is made again in a fresh process, and the [`SymbolicRun`] says so.
//!
//! Everything but the outcome was written by the target. Sizes are checked here and records are taken apart; that nodes make
//! sense is for whoever reads them to check.

mod asked;
mod config;
mod run;
mod sources;

pub use self::{
    asked::{ArmedGuidepost, Asked},
    config::{SymbolicConfig, SymbolicPlace},
    run::{BadTrace, SymbolicRun},
};

use crate::{
    channel::SymbolicLayout,
    config::{RunConfig, Target},
    error::ExecutorError,
    executor::Executor,
    mutants::Arming,
    session::{Ran, Session, SessionConfig, SessionCounts, SessionMode, SessionRun, WhyFresh},
};
use cairn_model::Input;

pub(crate) use self::sources::{size as sources_size, write as write_sources};

/// Bytes of each list that a session keeps from run to run. Most runs need less, and fresh memory costs more than what they do.
const KEPT: u64 = 8 << 20;

/// Runs the symbolic view of one target.
#[derive(Debug)]
pub struct SymbolicExecutor {
    runner: Runner,
    n_probes: usize,
    /// What runs are asked.
    asked: Asked,
}

#[derive(Debug)]
enum Runner {
    Session(Box<Session>),
    Fresh(Box<Executor>),
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
        let (place, n_probes) = (config.place, config.n_probes);
        let runner = match place {
            SymbolicPlace::Session => {
                let config = SessionConfig { run, max_batch: 1, ..SessionConfig::default() };
                Runner::Session(Box::new(Session::with_regions(target, config, None, Some(layout))?))
            }
            SymbolicPlace::Fresh => {
                Runner::Fresh(Box::new(Executor::with_regions(target, run, None, Some(layout))?))
            }
        };
        Ok(Self { runner, n_probes, asked: Asked::default() })
    }

    /// The limits in force.
    pub fn config(&self) -> &RunConfig {
        match &self.runner {
            Runner::Session(session) => &session.config().run,
            Runner::Fresh(executor) => executor.config(),
        }
    }

    /// How the target is run, and if not live, why.
    pub fn mode(&self) -> SessionMode {
        match &self.runner {
            Runner::Session(session) => session.mode().clone(),
            Runner::Fresh(_) => SessionMode::Fresh { why: "it is wanted so".into() },
        }
    }

    /// What happened so far in the session, if there is one.
    pub fn counts(&self) -> Option<&SessionCounts> {
        match &self.runner {
            Runner::Session(session) => Some(session.counts()),
            Runner::Fresh(_) => None,
        }
    }

    /// What the next runs are asked. Fails if the view does not have a probe; see [`SymbolicConfig::n_probes`].
    pub fn ask(&mut self, asked: Asked) -> Result<(), ExecutorError> {
        if let Some(probe) = asked.probes().find(|probe| probe.index() >= self.n_probes) {
            return Err(ExecutorError::NoSuch { what: "probe", number: probe.0 });
        }
        self.asked = asked;
        Ok(())
    }

    /// Runs the target once.
    pub fn run(&mut self, input: &Input) -> Result<SymbolicRun, ExecutorError> {
        match &mut self.runner {
            // What a run is asked is written before its process starts.
            Runner::Session(session) if self.asked != Asked::NOTHING => {
                run_fresh(session.executor()?, self.asked.clone(), input)
            }
            Runner::Session(session) => {
                let SessionRun { execution, ran, .. } = session.run(input)?;
                let run = run::collect(execution, ran.clone(), session.channel_of(&ran));
                session
                    .live_channel()
                    .give_back(KEPT)
                    .map_err(ExecutorError::system("give back what a trace has used"))?;
                Ok(run)
            }
            Runner::Fresh(executor) => run_fresh(executor, self.asked.clone(), input),
        }
    }
}

fn run_fresh(executor: &mut Executor, asked: Asked, input: &Input) -> Result<SymbolicRun, ExecutorError> {
    executor.arm(Arming { asked, ..Arming::default() });
    let execution = executor.run(input)?;
    Ok(run::collect(execution, Ran::Fresh { why: WhyFresh::NoSession }, executor.channel()))
}
