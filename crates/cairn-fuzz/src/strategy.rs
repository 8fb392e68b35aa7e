//! The fuzzer as a campaign uses it.

use crate::{
    comparisons,
    config::FuzzConfig,
    fuzz_loop::{FuzzCounts, FuzzLoop},
    harness,
    mutants::{Care, MutantCounts, Mutants, MutantsConfig},
    surroundings::{Done, Surroundings},
};
use cairn_executor::{ExecutorError, Session, SymbolicExecutor, SymbolicRun};
use cairn_model::{Input, MutantId, ProgramMap};
use cairn_strategy::{
    Budget, CampaignView, Candidate, Entry, EntryId, Finding, FindingKind, Strategy, StrategyError,
};
use std::{
    collections::{HashMap, VecDeque},
    error::Error as _,
    sync::Arc,
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

/// What is done about mutants.
enum Killing {
    /// Nothing: the strategy `fuzz`.
    No,
    /// They are run from the first step on: the strategy `mu2`.
    Wanted(MutantsConfig),
    Ready(Box<Killer>),
}

/// Runs mutants in a campaign.
struct Killer {
    mutants: Mutants,
    /// How many kills of the campaign are known.
    n_heard: usize,
    /// Entries of the corpus whose mutants nobody has run.
    unexamined: VecDeque<EntryId>,
    /// Candidates that the campaign has not judged, by address, with what was claimed of them.
    claims: HashMap<String, Vec<MutantId>>,
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
            let (worker, n_workers) = self.config.worker;
            let is_own = |entry: &&Arc<Entry>| {
                let is_claimed = killer.claims.remove(&entry.input.address()).is_some();
                !is_claimed && entry.id.0 % n_workers.max(1) == worker
            };
            killer.unexamined.extend(entries.iter().filter(is_own).map(|entry| entry.id));
        }
        entries.iter().for_each(|entry| fuzzing.add_entry(entry));
        self.uncalled = harness::why_uncalled(view.map(), view.plain);
        let mut candidates = Vec::new();
        if let Killing::Ready(killer) = &mut self.killing {
            killer.hear(view, fuzzing);
            candidates = killer.look_at_entries(view, budget)?;
        }
        let mutants = match &mut self.killing {
            Killing::Ready(killer) => Some(&mut killer.mutants),
            Killing::No | Killing::Wanted(_) => None,
        };
        let (tracer, start) = (&mut self.tracer, Instant::now());
        let mut around = InCampaign { view, budget, tracer, mutants, start, before: None };
        candidates.extend(fuzzing.run(&mut around)?);
        if let Killing::Ready(killer) = &mut self.killing {
            let claimed = |candidate: &Candidate| (candidate.input.address(), candidate.kills.clone());
            killer.claims.extend(candidates.iter().map(claimed));
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
        let claims = match &mut self.killing {
            Killing::Ready(killer) => killer.claims.remove(&finding.input.address()),
            Killing::No | Killing::Wanted(_) => None,
        };
        if matches!(finding.kind, FindingKind::Kills(_)) {
            return;
        }
        fuzzing.forget(&finding.input);
        if let (Killing::Ready(killer), Some(claims)) = (&mut self.killing, claims) {
            killer.mutants.hear_in_vain(&claims);
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

impl Killing {
    /// Starts the mutant view, once.
    fn ready(&mut self, view: &CampaignView<'_>) -> Result<(), StrategyError> {
        let Self::Wanted(config) = self else { return Ok(()) };
        let judge = view.target.mutant_judge()?;
        let Some((judge, counted)) = judge.zip(view.target.mutants()) else {
            let reason = "there is no mutant view".into();
            return Err(StrategyError::Unfit { strategy: "mu2", reason });
        };
        *self = Self::Ready(Box::new(Killer {
            mutants: Mutants::new(judge, counted, config.clone()),
            n_heard: 0,
            unexamined: VecDeque::new(),
            claims: HashMap::new(),
        }));
        Ok(())
    }
}

impl Killer {
    /// Takes note of kills, by whomever.
    fn hear(&mut self, view: &CampaignView<'_>, fuzzing: &mut FuzzLoop) {
        for kill in view.kills.since(self.n_heard) {
            self.n_heard += 1;
            self.mutants.hear(&kill);
            fuzzing.hear_kill(&kill);
        }
    }

    /// Runs mutants on entries of the corpus, and claims what these kill. Afterwards at least half of the time is left.
    fn look_at_entries(
        &mut self,
        view: &mut CampaignView<'_>,
        budget: &Budget,
    ) -> Result<Vec<Candidate>, StrategyError> {
        let half = budget.wall.map(|wall| wall / 2);
        let start = Instant::now();
        let mut candidates = Vec::new();
        while let Some(id) = self.unexamined.front().copied() {
            if view.is_over(budget) || half.is_some_and(|half| start.elapsed() > half) {
                break;
            }
            self.unexamined.pop_front();
            let input = view.corpus.get(id).input.clone();
            let looked = self.mutants.look(&input, Care::Whole)?;
            view.spent.target_runs += 1;
            view.spent.mutant_runs += looked.n_runs;
            if !looked.kills.is_empty() {
                let reason = "a look at its mutants".into();
                candidates.push(Candidate {
                    input,
                    parent: Some(id),
                    reason,
                    kills: looked.kills,
                    failed: None,
                });
            }
        }
        Ok(candidates)
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

    fn allowance(&mut self, done: &Done) -> u64 {
        let before = self.before.replace(*done).unwrap_or_default();
        self.view.spent.inputs += done.inputs - before.inputs;
        self.view.spent.target_runs += done.target_runs - before.target_runs;
        self.view.spent.mutant_runs += done.mutant_runs - before.mutant_runs;
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

    fn clock(&self) -> Option<Duration> {
        (self.budget.wall.is_some() || self.budget.cpu.is_some()).then(|| self.start.elapsed())
    }
}
