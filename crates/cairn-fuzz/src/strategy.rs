//! The fuzzer as a campaign uses it.

use crate::{
    comparisons,
    config::FuzzConfig,
    fuzz_loop::{FuzzCounts, FuzzLoop},
    harness,
    killer::Killing,
    mutants::{MutantCounts, Mutants, MutantsConfig},
    surroundings::{Done, Surroundings},
};
use cairn_executor::{ExecutorError, Session, SymbolicExecutor, SymbolicRun};
use cairn_model::{Input, ProgramMap};
use cairn_strategy::{
    Budget, CampaignView, Candidate, Finding, FindingKind, Sample, Strategy, StrategyError,
};
use std::{
    error::Error as _,
    time::{Duration, Instant},
};

/// Fuzzing with coverage and comparisons, and with mutants where that is asked for.
pub struct FuzzStrategy {
    config: FuzzConfig,
    killing: Killing,
    /// Made when the program is known.
    fuzzing: Option<FuzzLoop>,
    tracer: Tracer,
    /// Why functions of a harness are not called that change its inputs, if it has any.
    uncalled: Option<String>,
    /// How many entries of the corpus are known.
    n_known: usize,
}

/// Runs the symbolic view.
enum Tracer {
    Unasked,
    /// There will be none, for a reason.
    Missing(String),
    Ready(Box<SymbolicExecutor>),
}

impl Tracer {
    fn failed(error: &ExecutorError) -> Self {
        let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
        Self::Missing(format!("the symbolic view cannot be run ({error}{cause})"))
    }
}

impl FuzzStrategy {
    /// A fuzzer that knows no program yet.
    pub fn new(config: FuzzConfig) -> Self {
        Self::with(config, Killing::No)
    }

    /// Likewise, one that also keeps what kills mutants.
    pub fn with_mutants(config: FuzzConfig, mutants: MutantsConfig) -> Self {
        Self::with(config, Killing::Wanted(mutants))
    }

    fn with(config: FuzzConfig, killing: Killing) -> Self {
        Self { config, killing, fuzzing: None, tracer: Tracer::Unasked, uncalled: None, n_known: 0 }
    }

    /// What was done with mutants so far.
    pub fn mutant_counts(&self) -> MutantCounts {
        match &self.killing {
            Killing::Ready(killer) => *killer.mutants.counts(),
            Killing::No | Killing::Wanted(_) => MutantCounts::default(),
        }
    }

    /// What the fuzzer did so far.
    pub fn counts(&self) -> FuzzCounts {
        self.fuzzing.as_ref().map(|fuzzing| *fuzzing.counts()).unwrap_or_default()
    }
}

impl Strategy for FuzzStrategy {
    fn name(&self) -> &'static str {
        match self.killing {
            Killing::No => "fuzz",
            Killing::Wanted(_) | Killing::Ready(_) => "mu2",
        }
    }

    fn step(
        &mut self,
        view: &mut CampaignView<'_>,
        budget: &Budget,
    ) -> Result<Vec<Candidate>, StrategyError> {
        // The campaign's generator decides everything, so that resumed and repeated campaigns decide alike.
        let seed = view.random.u64(..);
        let fuzzing =
            self.fuzzing.get_or_insert_with(|| FuzzLoop::new(self.config.clone(), view.map(), seed));
        fuzzing.set_seed(seed);
        let entries = view.corpus.since(self.n_known);
        self.n_known += entries.len();
        self.killing.ready(view)?;
        if let Killing::Ready(killer) = &mut self.killing {
            killer.hear_entries(&entries, self.config.worker);
        }
        entries.iter().for_each(|entry| fuzzing.add_entry(entry));
        self.uncalled = harness::why_uncalled(view.map(), view.plain);
        let mut candidates = Vec::new();
        if let Killing::Ready(killer) = &mut self.killing {
            killer.hear_kills(view, fuzzing);
            candidates = killer.look_at_entries(view, fuzzing, budget)?;
        }
        let mutants = match &mut self.killing {
            Killing::Ready(killer) => Some(&mut killer.mutants),
            Killing::No | Killing::Wanted(_) => None,
        };
        let (tracer, start) = (&mut self.tracer, Instant::now());
        let mut around = InCampaign { view, budget, tracer, mutants, start, before: None };
        candidates.extend(fuzzing.run(&mut around)?);
        if let Killing::Ready(killer) = &mut self.killing {
            killer.claim(&candidates);
        }
        Ok(candidates)
    }

    fn observe(&mut self, finding: &Finding) {
        let is_own = finding.strategy == self.name();
        let Some(fuzzing) = &mut self.fuzzing else { return };
        // What is kept is heard of with the corpus.
        if !is_own || matches!(finding.kind, FindingKind::Kept(_)) {
            return;
        }
        if let Killing::Ready(killer) = &mut self.killing {
            killer.judged(&finding.input);
        }
        match finding.kind {
            FindingKind::Kills(_) => fuzzing.forget_copy(&finding.input),
            _ => fuzzing.forget(&finding.input),
        }
    }

    fn notices(&self) -> Vec<String> {
        let untraced = match &self.tracer {
            Tracer::Missing(why) => {
                Some(format!("{why}, so the fuzzer does not see what the program compares its input with"))
            }
            _ => None,
        };
        let of_loop = self.fuzzing.iter().flat_map(FuzzLoop::notices);
        untraced.into_iter().chain(self.uncalled.clone()).chain(of_loop).collect()
    }
}

/// One step of a campaign.
struct InCampaign<'a, 'b> {
    view: &'a mut CampaignView<'b>,
    budget: &'a Budget,
    tracer: &'a mut Tracer,
    mutants: Option<&'a mut Mutants>,
    start: Instant,
    /// What was done when the view was told last.
    before: Option<Done>,
}

impl Surroundings for InCampaign<'_, '_> {
    fn map(&self) -> &ProgramMap {
        self.view.map()
    }

    fn session(&mut self) -> &mut Session {
        self.view.plain
    }

    fn max_size(&self) -> usize {
        usize::try_from(self.view.max_size).unwrap_or(usize::MAX)
    }

    fn backstop(&self) -> Option<Duration> {
        self.view.backstop
    }

    fn allowance(&mut self, done: &Done) -> u64 {
        let before = self.before.replace(*done).unwrap_or_default();
        self.view.spent.inputs += done.inputs - before.inputs;
        self.view.spent.target_runs += done.target_runs - before.target_runs;
        self.view.spent.mutant_runs += done.mutant_runs - before.mutant_runs;
        self.view.spent.on_mutants += done.on_mutants - before.on_mutants;
        if self.view.is_over(self.budget) {
            return 0;
        }
        let left = self.budget.left(&self.view.spent);
        left.inputs.unwrap_or(u64::MAX).min(left.target_runs.unwrap_or(u64::MAX))
    }

    /// Fuzzing goes on without comparisons where they cannot be had.
    fn trace(&mut self, input: &Input) -> Result<Option<SymbolicRun>, ExecutorError> {
        if matches!(self.tracer, Tracer::Unasked) {
            *self.tracer = match self.view.symbolic(comparisons::config()) {
                Ok(Some(executor)) => Tracer::Ready(Box::new(executor)),
                Ok(None) => Tracer::Missing("the target has no symbolic view".into()),
                Err(error) => Tracer::failed(&error),
            };
        }
        let Tracer::Ready(executor) = self.tracer else { return Ok(None) };
        match executor.run(input) {
            Ok(run) => Ok(Some(run)),
            Err(error) => {
                *self.tracer = Tracer::failed(&error);
                Ok(None)
            }
        }
    }

    fn mutants(&mut self) -> Option<&mut Mutants> {
        self.mutants.as_deref_mut()
    }

    fn samples(&mut self) -> Option<&mut Vec<Sample>> {
        self.view.samples.as_mut()
    }

    fn clock(&self) -> Option<Duration> {
        (self.budget.wall.is_some() || self.budget.cpu.is_some()).then(|| self.start.elapsed())
    }
}
