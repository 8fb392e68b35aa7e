//! One worker: a bare build and a mutant view on a core of its own.

use super::{
    engine::{Plan, Shared},
    judge::Setup,
    ready::Ready,
};
use crate::failure::Failure;
use cairn_executor::{
    Executor, SessionConfig, Target,
    mutants::{Confirming, MutantJudge, MutantSession},
    oracle::{Judged, Reference},
    pin_to_core,
};
use cairn_model::{Input, MutantId, MutantSet, ProgramMap, Verdict};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Mutants that are run between two looks at whether to stop.
const AT_ONCE: usize = 128;
/// The most mutants that run together at first; later as many as take about [`PART_TIME`].
const FIRST_PART: usize = 8;
/// Only between parts is anything remembered, and the end of the budget noticed.
const PART_TIME: Duration = Duration::from_millis(200);

/// A bare build and a mutant view.
pub struct Worker {
    /// Runs the bare build.
    pub bare: Executor,
    /// Runs mutants and concludes what they are.
    pub judge: MutantJudge,
    /// The program.
    pub map: Arc<ProgramMap>,
    core: Option<usize>,
    /// Mutants of which a kill was confirmed.
    confirmed: MutantSet,
}

/// Verdicts of some mutants on one input.
#[derive(Default)]
pub struct Batch {
    /// What was concluded.
    pub verdicts: Vec<(MutantId, Verdict)>,
    /// Kills that a fresh process confirmed.
    pub n_confirmed: u64,
    /// Kills that it did not.
    pub n_not_confirmed: u64,
    /// Mutants about which nothing was concluded, because the user's comparison failed, and how.
    pub not_compared: Vec<(MutantId, String)>,
}

impl Worker {
    /// Starts both programs on `core`.
    pub fn new(plan: &Plan, core: Option<usize>) -> Result<Self, Failure> {
        let Setup { oracle, limits, .. } = &plan.setup;
        pin(core);
        let target =
            Target { program: plan.mutants.view.program.clone(), n_counters: plan.mutants.map.n_counters };
        let config = SessionConfig { run: limits.clone(), ..SessionConfig::default() };
        let bare = Target { program: plan.subject.views.bare.clone(), n_counters: 0 };
        let session = MutantSession::new(target, plan.mutants.table.clone(), config)?;
        Ok(Self {
            bare: Executor::new(bare, limits.clone())?,
            judge: MutantJudge::new(session, *oracle, plan.setup.comparing()?),
            map: plan.mutants.map.clone(),
            core,
            confirmed: MutantSet::default(),
        })
    }

    /// Keeps the calling thread where this worker's programs are.
    pub fn pin(&self) {
        pin(self.core);
    }

    /// Runs `mutants` on `input` and tells of them in batches.
    pub fn run_mutants(
        &mut self,
        input: &Input,
        ready: &Ready,
        mutants: &[MutantId],
        shared: &Shared,
        tell: &mut dyn FnMut(Batch),
    ) -> Result<(), Failure> {
        if mutants.is_empty() || shared.stops() {
            return Ok(());
        }
        let original = match &ready.original {
            Some(original) => original.clone(),
            None => Arc::new(self.bare.run(input)?.outcome),
        };
        let oracle = self.judge.oracle;
        let reference = Reference { oracle: &oracle, original: &original, masks: &ready.masks };
        self.judge.session.set_fuel(ready.fuel());
        self.judge.session.set_wall_limit(ready.wall_limit(self.bare.config().wall_limit));
        let mut rest = mutants;
        let n_in_time = PART_TIME.as_micros() / ready.time.as_micros().max(1);
        let mut n_at_once = usize::try_from(n_in_time).unwrap_or(FIRST_PART).clamp(1, FIRST_PART);
        while !rest.is_empty() && !shared.stops() {
            let (part, later) = rest.split_at(n_at_once.min(rest.len()));
            rest = later;
            let started = Instant::now();
            let mut batch = Batch::default();
            for run in self.judge.session.run(input, part)? {
                let elsewhere = ready.is_movable;
                let confirming = match self.confirmed.contains(run.mutant) {
                    true => Confirming::Known { elsewhere },
                    false => Confirming::First { elsewhere },
                };
                let concluded = self.judge.conclude(input, &reference, run.mutant, &run.run, confirming)?;
                match concluded.is_confirmed {
                    Some(true) => {
                        batch.n_confirmed += 1;
                        self.confirmed.insert(run.mutant);
                    }
                    Some(false) => batch.n_not_confirmed += 1,
                    None => {}
                }
                match concluded.judged {
                    Judged::Verdict(verdict) => batch.verdicts.push((run.mutant, verdict)),
                    Judged::CompareFailed(failure) => {
                        batch.not_compared.push((run.mutant, failure.to_string()));
                    }
                }
            }
            tell(batch);
            n_at_once = match started.elapsed() {
                elapsed if elapsed < PART_TIME => (2 * n_at_once).min(AT_ONCE),
                _ => (n_at_once / 2).max(1),
            };
        }
        Ok(())
    }
}

fn pin(core: Option<usize>) {
    // Where that is not allowed it is only slower.
    if let Some(core) = core {
        let _ = pin_to_core(core);
    }
}
