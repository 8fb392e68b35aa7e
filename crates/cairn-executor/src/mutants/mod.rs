//! Runs mutants.
//!
//! A [`MutantSession`] is a [`Session`] on a mutant view. One live process runs the original, any mutant, or the
//! original with all mutants evaluated beside it; which, is a number in shared memory.
//!
//! ```text
//!   examine   original + every mutant beside it  ──►  patches reached, mutants that differ
//!   run       one mutant after the other         ──►  outcome, counters beyond the baseline
//!   observe   values at one patch, in order
//!   guide     a condition on these values; a run that breaks it ends there
//!   judge     kills, the first of each mutant and doubtful ones again in a fresh process
//! ```
//!
//! Code that runs before `main` runs once in a session, without a mutant. So the session examines it, and a mutant that
//! makes a difference there is always run in a fresh process.
//!
//! Test runners that know nothing of Cairn run mutants by `CAIRN_MUTANT` and note what they reach by `CAIRN_REACH`;
//! [`ReachFile`] reads what they noted.

mod arming;
mod fuel;
mod guide;
mod judge;
mod layout;
mod noted;
mod observe;
mod prepare;
mod reach_file;

pub(crate) use self::arming::{Arming, Watching};
pub(crate) use self::guide::arm;
pub use self::{
    fuel::{FUEL_MARGIN, LEAST_FUEL, fuel_for},
    guide::{Guided, GuidedEnd},
    judge::{Comparing, Concluded, Confirming, MutantJudge},
    observe::{MAX_VALUES, Observe, Observed},
    prepare::{Difference, EXAMINED_MARGIN, LeftOut, Original, Prepared, Preparing, TIME_MARGINS, time_for},
    reach_file::ReachFile,
};

use crate::{
    channel::MutantLayout,
    compare::{self, Compared},
    config::Target,
    error::ExecutorError,
    executor::Execution,
    session::{
        Activation, Job, Session, SessionConfig, SessionCounts, SessionMode, SessionRun, WantedCounters,
        Wants, WhyFresh,
    },
};
use cairn_model::{Input, MutantId, MutantTable, PatchId};
use std::{sync::Arc, time::Duration};

/// Counters beyond the baseline, and everything an oracle compares.
const WANTS: Wants = Wants { counters: WantedCounters::IfNew, output: true };

/// A mutant view that runs many inputs and mutants, live where that is possible.
#[derive(Debug)]
pub struct MutantSession {
    session: Session,
    table: Arc<MutantTable>,
}

/// What an input reaches.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The run, in which the program did what the original does.
    pub run: SessionRun,
    /// Patches that were executed, in order.
    pub reached: Vec<PatchId>,
    /// Mutants that differ from the original where it executes them, in order. The others cannot be noticed with this
    /// input.
    pub infected: Vec<MutantId>,
}

/// One run of one mutant.
#[derive(Clone, Debug)]
pub struct MutantRun {
    /// The mutant.
    pub mutant: MutantId,
    /// What it did. Counters are there if some are beyond the baseline, however the run ended.
    pub run: SessionRun,
}

impl MutantSession {
    /// Starts `target`, the mutant view that `table` belongs to.
    pub fn new(
        target: Target,
        table: Arc<MutantTable>,
        config: SessionConfig,
    ) -> Result<Self, ExecutorError> {
        let mutants = MutantLayout {
            n_functions: table.functions.len(),
            n_patches: table.patches.len(),
            n_selectors: table.n_selectors() as usize,
            n_values: MAX_VALUES,
        };
        Ok(Self { session: Session::with_regions(target, config, Some(mutants), None)?, table })
    }

    /// The mutants.
    pub fn table(&self) -> &Arc<MutantTable> {
        &self.table
    }

    /// How the target is run, and if not live, why.
    pub fn mode(&self) -> &SessionMode {
        self.session.mode()
    }

    /// What happened so far.
    pub fn counts(&self) -> &SessionCounts {
        self.session.counts()
    }

    /// The limits in force.
    pub fn config(&self) -> &SessionConfig {
        self.session.config()
    }

    /// What was seen before: see [`Session::baseline`].
    pub fn baseline(&mut self) -> &mut [u8] {
        self.session.baseline()
    }

    /// Sets what each run may use from now on; 0 for no limit.
    pub fn set_fuel(&mut self, fuel: u64) {
        self.session.set_fuel(fuel);
    }

    /// Sets how long each run may take from now on.
    pub fn set_wall_limit(&mut self, wall_limit: Duration) {
        self.session.set_wall_limit(wall_limit);
    }

    /// Runs `input` with nothing active, and keeps everything.
    pub fn original(&mut self, input: &Input) -> Result<SessionRun, ExecutorError> {
        self.session.run(input)
    }

    /// Runs `input` and says what it reaches. The program does what the original does.
    pub fn examine(&mut self, input: &Input) -> Result<Examined, ExecutorError> {
        let activation = Activation { selector: 0, examines: true };
        let run = self.run_one(&Job { input, activation, why_fresh: None }, Wants::EVERYTHING)?;
        let mut infections = self.session.channel_of(&run.ran).infections().to_vec();
        for (byte, before) in infections.iter_mut().zip(self.session.before_main()) {
            *byte |= before;
        }
        let reached = noted::reached(&self.table, &infections);
        let infected = noted::infected(&self.table, &infections);
        Ok(Examined { run, reached, infected })
    }

    /// Runs `input` with each of `mutants` active, and returns their runs in that order.
    pub fn run(&mut self, input: &Input, mutants: &[MutantId]) -> Result<Vec<MutantRun>, ExecutorError> {
        let mut jobs = Vec::with_capacity(mutants.len());
        for mutant in mutants {
            let selector = self.selector(*mutant)?;
            let is_early = noted::is_infected(&self.table, self.session.before_main(), selector);
            let activation = Activation { selector, examines: false };
            jobs.push(Job { input, activation, why_fresh: is_early.then_some(WhyFresh::BeforeMain) });
        }
        let runs = self.session.run_jobs(&jobs, WANTS)?;
        Ok(mutants.iter().zip(runs).map(|(mutant, run)| MutantRun { mutant: *mutant, run }).collect())
    }

    /// Runs `input` in a fresh process, with a mutant active or none.
    pub fn run_fresh(&mut self, input: &Input, mutant: Option<MutantId>) -> Result<Execution, ExecutorError> {
        let selector = mutant.map_or(Ok(0), |mutant| self.selector(mutant))?;
        self.session.run_fresh_with(input, Activation { selector, examines: false })
    }

    /// Has the program's own `cairn_compare` compare two outputs, in a process of its own with nothing active.
    pub fn compare(&mut self, original: &[u8], mutant: &[u8]) -> Result<Compared, ExecutorError> {
        compare::by_function(self.session.executor()?, original, mutant)
    }

    fn run_one(&mut self, job: &Job<'_>, wants: Wants) -> Result<SessionRun, ExecutorError> {
        let mut runs = self.session.run_jobs(std::slice::from_ref(job), wants)?;
        Ok(runs.pop().expect("one run for one job"))
    }

    /// Runs `input` with something selected and watched. Afterwards nothing is.
    fn run_watched(
        &mut self,
        input: &Input,
        patch: PatchId,
        selector: u32,
        watching: Watching,
    ) -> Result<SessionRun, ExecutorError> {
        let is_early = noted::is_reached(self.session.before_main(), patch);
        let activation = Activation { selector, examines: false };
        let job = Job { input, activation, why_fresh: is_early.then_some(WhyFresh::BeforeMain) };
        self.session.watch(watching);
        let run = self.run_one(&job, Wants::EVERYTHING);
        self.session.watch(Watching::default());
        run
    }

    fn selector(&self, mutant: MutantId) -> Result<u32, ExecutorError> {
        match self.table.mutants.get(mutant.index()) {
            Some(_) => Ok(self.table.selector(mutant)),
            None => Err(ExecutorError::NoSuch { what: "mutant", number: mutant.0 }),
        }
    }

    /// Whether the values at a patch can be observed, told as an error if not.
    fn check_observable(&self, patch: PatchId) -> Result<(), ExecutorError> {
        match self.table.patches.get(patch.index()) {
            Some(found) if found.is_observable => Ok(()),
            Some(_) => Err(ExecutorError::NotObservable { patch: patch.0 }),
            None => Err(ExecutorError::NoSuch { what: "patch", number: patch.0 }),
        }
    }
}
