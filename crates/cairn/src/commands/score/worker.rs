//! One worker: a bare build and a mutant view on a core of its own.

use super::{
    engine::{Plan, Shared},
    judge::{Compare, Setup},
    ready::Ready,
};
use crate::failure::Failure;
use cairn_executor::{
    CompareCommand, Compared, Executor, Ran, SessionConfig, SessionRun, Target,
    mutants::MutantSession,
    oracle::{Judged, Oracle, Reference, needs_confirmation},
    pin_to_core,
};
use cairn_model::{Input, KillReason, MutantId, Outcome, ProgramMap, Verdict};
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
    /// Runs the mutant view.
    pub session: MutantSession,
    /// What counts.
    pub oracle: Oracle,
    /// The program.
    pub map: Arc<ProgramMap>,
    core: Option<usize>,
    comparison: Comparison,
}

/// Who compares outputs.
enum Comparison {
    None,
    Function,
    Command(Box<CompareCommand>),
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
        let Setup { oracle, limits, compare } = &plan.setup;
        pin(core);
        let target =
            Target { program: plan.mutants.view.program.clone(), n_counters: plan.mutants.map.n_counters };
        let config = SessionConfig { run: limits.clone(), ..SessionConfig::default() };
        let comparison = match compare {
            None => Comparison::None,
            Some(Compare::Function) => Comparison::Function,
            Some(Compare::Command { .. }) => plan
                .setup
                .command()?
                .map_or(Comparison::None, |command| Comparison::Command(Box::new(command))),
        };
        let bare = Target { program: plan.subject.views.bare.clone(), n_counters: 0 };
        Ok(Self {
            bare: Executor::new(bare, limits.clone())?,
            session: MutantSession::new(target, plan.mutants.table.clone(), config)?,
            oracle: *oracle,
            map: plan.mutants.map.clone(),
            core,
            comparison,
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
        let oracle = self.oracle;
        let reference = Reference { oracle: &oracle, original: &original, masks: &ready.masks };
        self.session.set_fuel(ready.fuel());
        self.session.set_wall_limit(ready.wall_limit(self.bare.config().wall_limit));
        let mut rest = mutants;
        let n_in_time = PART_TIME.as_micros() / ready.time.as_micros().max(1);
        let mut n_at_once = usize::try_from(n_in_time).unwrap_or(FIRST_PART).clamp(1, FIRST_PART);
        while !rest.is_empty() && !shared.stops() {
            let (part, later) = rest.split_at(n_at_once.min(rest.len()));
            rest = later;
            let started = Instant::now();
            let mut batch = Batch::default();
            for run in self.session.run(input, part)? {
                match self.conclude(input, &reference, run.mutant, &run.run, &mut batch)? {
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

    /// The verdict of one run, confirmed where that is needed.
    fn conclude(
        &mut self,
        input: &Input,
        reference: &Reference<'_>,
        mutant: MutantId,
        run: &SessionRun,
        batch: &mut Batch,
    ) -> Result<Judged, Failure> {
        let judged = self.judge(reference, &run.execution.outcome)?;
        let Judged::Verdict(Verdict::Killed(reason)) = judged else { return Ok(judged) };
        let is_unstable = !reference.masks.is_empty() && reason == KillReason::Output;
        // A run that was made in a fresh process needs no other, unless a busy machine may be to blame.
        let is_fresh = run.ran != Ran::Live && !matches!(reason, KillReason::Timeout | KillReason::Memory);
        if is_fresh || !(needs_confirmation(reason) || is_unstable) {
            return Ok(judged);
        }
        let again = self.session.run_fresh(input, Some(mutant))?;
        let again = self.judge(reference, &again.outcome)?;
        Ok(match again {
            Judged::Verdict(Verdict::Killed(_)) => {
                batch.n_confirmed += 1;
                // What it does in a fresh process is what counts.
                again
            }
            Judged::Verdict(Verdict::Survived | Verdict::LayoutDependent) => {
                batch.n_not_confirmed += 1;
                Judged::Verdict(Verdict::LayoutDependent)
            }
            Judged::Verdict(Verdict::Undecided) | Judged::CompareFailed(_) => again,
        })
    }

    /// What follows from an outcome; where the user's comparison fails, nothing does.
    pub fn judge(&mut self, reference: &Reference<'_>, outcome: &Outcome) -> Result<Judged, Failure> {
        Ok(match &mut self.comparison {
            Comparison::None => Judged::Verdict(reference.verdict(outcome)),
            Comparison::Function => {
                let session = &mut self.session;
                reference.judge_with(outcome, |one, other| session.compare(one, other))?
            }
            Comparison::Command(command) => {
                reference.judge_with(outcome, |one, other| command.compare(one, other))?
            }
        })
    }

    /// Whether the user compares outputs.
    pub fn has_comparison(&self) -> bool {
        !matches!(self.comparison, Comparison::None)
    }

    /// Whether the user's comparison calls two outputs the same.
    pub fn compares_equal(&mut self, one: &[u8], other: &[u8]) -> Result<bool, Failure> {
        let compared = match &mut self.comparison {
            Comparison::None => return Ok(one == other),
            Comparison::Function => self.session.compare(one, other)?,
            Comparison::Command(command) => command.compare(one, other)?,
        };
        Ok(compared == Compared::Same)
    }
}

fn pin(core: Option<usize>) {
    // Where that is not allowed it is only slower.
    if let Some(core) = core {
        let _ = pin_to_core(core);
    }
}
