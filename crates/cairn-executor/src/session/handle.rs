//! The session as callers hold it.

use super::{
    config::{SessionConfig, Wants},
    counts::SessionCounts,
    fresh::Fresh,
    job::{Activation, Job},
    live::Live,
    pack::Pack,
    sort_out::Taken,
    why::WhyFresh,
};
use crate::{
    channel::{Channel, MutantLayout, SymbolicLayout},
    config::{RunConfig, Target},
    error::ExecutorError,
    executor::{Execution, Executor},
    mutants::{Arming, Watching},
};
use cairn_abi::{
    channel::TraceLevel,
    session::{InputSlot, RunnerMode},
};
use cairn_model::{Ending, Input};
use std::{fmt, time::Duration};

/// So many kills in a row are a program's own.
const KILLS_BELIEVED: u32 = 3;

/// The largest region for inputs or for what runs leave: positions in them have 32 bits.
const MAX_REGION: usize = 1 << 30;

/// A target that runs many inputs, live where that is possible.
///
/// Dropping it ends its processes. It can be moved between threads; several run side by side. Made after
/// [`crate::pin_to_core`], it lives on that core together with its caller.
#[derive(Debug)]
pub struct Session {
    // The live target goes before what it is compared with.
    pub(super) live: Live,
    pub(super) fresh: Fresh,
    pub(super) config: SessionConfig,
    pub(super) mode: SessionMode,
    pub(super) counts: SessionCounts,
    pub(super) pack: Pack,
    /// What became of the last batch; kept so that it is not allocated each time.
    pub(super) taken: Vec<Taken>,
    pub(super) buffer_runs: super::buffers::Records,
    /// What runs tell of the patch that is selected in them.
    pub(super) watching: Watching,
}

/// How a session runs its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionMode {
    /// In a live process.
    Live(RunnerMode),
    /// In a fresh process for every run.
    Fresh {
        /// Why the target cannot be run live.
        why: String,
    },
}

impl fmt::Display for SessionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live(RunnerMode::Snapshot) => f.write_str("snapshot"),
            Self::Live(RunnerMode::Persistent) => f.write_str("persistent"),
            Self::Fresh { why } => write!(f, "a fresh process for every run: {why}"),
        }
    }
}

/// One run and how it was made.
#[derive(Clone, Debug)]
pub struct SessionRun {
    /// Everything the run left, as a fresh run would give it.
    pub execution: Execution,
    /// Where it ran.
    pub ran: Ran,
    /// Counters hit in a way the baseline lacks.
    pub n_new: u32,
}

/// Where a run was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran {
    /// In the session.
    Live,
    /// In a process of its own.
    Fresh {
        /// Why.
        why: WhyFresh,
    },
}

impl Session {
    /// Starts `target` and takes it up to where runs begin. A target that cannot be run live is run in fresh
    /// processes, and [`Session::mode`] says so; that is no error.
    pub fn new(target: Target, config: SessionConfig) -> Result<Self, ExecutorError> {
        Self::with_regions(target, config, None, None)
    }

    /// Likewise for a mutant or symbolic view.
    pub(crate) fn with_regions(
        target: Target,
        mut config: SessionConfig,
        mutants: Option<MutantLayout>,
        symbolic: Option<SymbolicLayout>,
    ) -> Result<Self, ExecutorError> {
        config.max_batch = config.max_batch.clamp(1, 1 << 16);
        let least = config.max_batch * size_of::<InputSlot>() + cairn_abi::channel::PAGE;
        config.inputs_size = config.inputs_size.clamp(least, MAX_REGION);
        config.captured_size = config.captured_size.clamp(cairn_abi::channel::PAGE, MAX_REGION);
        let fresh = Fresh::new(target.clone(), config.run.clone(), mutants, symbolic)?;
        let live = Live::new(&target, &config, mutants, symbolic, fresh.channel_size())?;
        let mut session = Self {
            live,
            fresh,
            mode: SessionMode::Live(config.mode),
            counts: SessionCounts::default(),
            pack: Pack::new(&config, symbolic.is_some()),
            taken: Vec::new(),
            buffer_runs: Default::default(),
            watching: Watching::default(),
            config,
        };
        if session.config.run.trace_level == TraceLevel::None || symbolic.is_some() {
            session.is_ready()?;
        } else {
            session.mode = SessionMode::Fresh { why: "traces are recorded in fresh processes".into() };
        }
        Ok(session)
    }

    /// How the target is run, and if not live, why.
    pub fn mode(&self) -> &SessionMode {
        &self.mode
    }

    /// The limits in force.
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// What happened so far.
    pub fn counts(&self) -> &SessionCounts {
        &self.counts
    }

    /// A variable that the program asked for in some run, and the input of that run did not have.
    pub fn missing_variable(&self) -> Option<String> {
        let fresh = || self.fresh.made()?.channel().missing_variable();
        self.live.channel.missing_variable().or_else(fresh)
    }

    /// What was seen before: for each counter the classes of hit counts, as [`cairn_abi::session::class`] makes them.
    /// All zero at first; the caller adds to it.
    pub fn baseline(&mut self) -> &mut [u8] {
        self.live.channel.baseline_mut()
    }

    /// Sets what each run may use from now on, here and in fresh processes; 0 for no limit.
    pub fn set_fuel(&mut self, fuel: u64) {
        self.config.run.fuel = fuel;
        self.fresh.set_fuel(fuel);
    }

    /// Sets how long each run may take from now on, here and in fresh processes.
    pub fn set_wall_limit(&mut self, wall_limit: Duration) {
        self.config.run.wall_limit = wall_limit;
        self.live.wall_limit = wall_limit;
        self.fresh.set_wall_limit(wall_limit);
    }

    /// Runs one input and keeps everything.
    pub fn run(&mut self, input: &Input) -> Result<SessionRun, ExecutorError> {
        let mut runs = self.run_batch(std::slice::from_ref(input), Wants::EVERYTHING)?;
        Ok(runs.pop().expect("one run for one input"))
    }

    /// Runs one input in a fresh process: what it does there is what counts.
    ///
    /// A process that was killed is run again a few times: if it does not kill itself, somebody else did.
    pub fn run_fresh(&mut self, input: &Input) -> Result<Execution, ExecutorError> {
        self.run_fresh_with(input, Activation::default())
    }

    /// Likewise, with something active.
    pub(crate) fn run_fresh_with(
        &mut self,
        input: &Input,
        activation: Activation,
    ) -> Result<Execution, ExecutorError> {
        let executor = self.fresh.executor()?;
        executor.arm(Arming { activation, watching: self.watching.clone(), ..Arming::default() });
        let mut execution = executor.run(input)?;
        for _ in 1..KILLS_BELIEVED {
            if execution.outcome.ending != (Ending::Signalled { signal: libc::SIGKILL }) {
                break;
            }
            execution = executor.run(input)?;
        }
        Ok(execution)
    }

    /// Sets what the next runs tell of the patch that is selected in them.
    pub(crate) fn watch(&mut self, watching: Watching) {
        self.watching = watching;
    }

    /// The channel a run was made with; it holds what that run left, if it was the last one.
    pub(crate) fn channel_of(&self, ran: &Ran) -> &Channel {
        match ran {
            Ran::Live => &self.live.channel,
            Ran::Fresh { .. } => self.fresh.made().expect("it made the run").channel(),
        }
    }

    /// The channel of the live process, between two runs.
    pub(crate) fn live_channel(&mut self) -> &mut Channel {
        &mut self.live.channel
    }

    /// What runs before `main` noted of its patches; empty where there is no live process.
    pub(crate) fn before_main(&self) -> &[u8] {
        self.live.before_main()
    }

    /// The program as it runs in fresh processes.
    pub(crate) fn executor(&mut self) -> Result<&mut Executor, ExecutorError> {
        self.fresh.executor()
    }

    pub(super) fn run_config(&self) -> &RunConfig {
        &self.config.run
    }

    /// Sees to it that a runner waits for a batch; `false` if there will never be one.
    pub(super) fn is_ready(&mut self) -> Result<bool, ExecutorError> {
        if matches!(self.mode, SessionMode::Fresh { .. }) {
            return Ok(false);
        }
        match self.live.ready(&mut self.counts)? {
            Ok(()) => Ok(true),
            Err(why) => {
                self.mode = SessionMode::Fresh { why };
                Ok(false)
            }
        }
    }

    /// Runs `job` in a fresh process because of `why`.
    pub(super) fn fresh(
        &mut self,
        job: &Job<'_>,
        wants: Wants,
        why: WhyFresh,
    ) -> Result<SessionRun, ExecutorError> {
        self.counts.note_fresh(&why);
        let mut execution = self.run_fresh_with(job.input, job.activation)?;
        let n_new = cairn_abi::session::n_new(&execution.counters, self.live.channel.baseline());
        if !wants.counters_of(n_new, &execution.outcome.ending) {
            execution.counters.clear();
        }
        Ok(SessionRun { execution, ran: Ran::Fresh { why }, n_new })
    }
}
