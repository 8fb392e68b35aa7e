//! Symbolic seeds, then fuzzing.

use crate::{
    criterion::Criterion,
    elements::Described,
    exploration::{Exploration, ExplorationConfig, Progress},
    measure::{Measure, Runner},
    selection::{Chosen, Pick, Selection},
};
use cairn_concolic::{Freedoms, search::Ran};
use cairn_model::{Ending, Input};
use cairn_strategy::{
    Budget, CampaignView, Candidate, Entry, FailingRuns, Finding, FindingKind, Seen, Strategy, StrategyError,
};
use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// How seeds are found and chosen.
#[derive(Clone, Debug)]
pub struct SeedsConfig {
    /// What counts as covered.
    pub criterion: Criterion,
    /// Which candidate stands for a template.
    pub pick: Pick,
    /// How candidates are looked for.
    pub exploration: ExplorationConfig,
    /// When that ends, if it does not end by itself.
    pub bound: Bound,
    /// Where it is told what bytes of seeds are free.
    pub freedoms: Freedoms,
}

/// When no candidates are looked for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// After so many candidates.
    pub candidates: u64,
    /// After this time, where time is limited at all.
    pub wall: Option<Duration>,
}

/// The paper's technique: candidates by concolic testing, of which a few seed a fuzzer.
pub struct CseFuzzStrategy {
    config: SeedsConfig,
    phase: Phase,
    fuzz: Box<dyn Strategy>,
    /// Seeds that were proposed, by address.
    proposed: HashSet<String>,
    counts: SeedCounts,
}

enum Phase {
    Unbegun,
    Exploring(Box<Work>),
    Fuzzing,
}

struct Work {
    exploration: Exploration,
    measure: Measure,
    selection: Selection<Arc<Input>>,
    failing: FailingRuns,
    start: Instant,
}

/// What was done before fuzzing began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeedCounts {
    /// Inputs that were made and run.
    pub n_candidates: u64,
    /// How many different things they cover.
    pub n_templates: usize,
    /// Seeds that were chosen.
    pub n_selected: usize,
    /// Those that reach something that the corpus does not.
    pub n_effective: usize,
}

const NAME: &str = "csefuzz";

/// How many things a reason names.
const NAMED: usize = 2;

impl CseFuzzStrategy {
    /// Goes on with `fuzz` when seeds are there.
    pub fn new(config: SeedsConfig, fuzz: Box<dyn Strategy>) -> Self {
        let (proposed, counts) = (HashSet::new(), SeedCounts::default());
        Self { config, phase: Phase::Unbegun, fuzz, proposed, counts }
    }

    /// What was done before fuzzing began.
    pub fn counts(&self) -> SeedCounts {
        self.counts
    }

    fn begin(&self, view: &mut CampaignView<'_>, is_timed: bool) -> Result<Work, StrategyError> {
        let unfit = |reason: &str| StrategyError::Unfit { strategy: NAME, reason: reason.into() };
        let heuristic = self.config.exploration.heuristic;
        let executor = view.symbolic(Exploration::executor_config(heuristic, is_timed))?;
        let executor = executor.ok_or_else(|| unfit("it has no symbolic view"))?;
        let runner = Runner::of(self.config.criterion, view.target)?;
        let runner = runner.map_err(|missing| unfit(&format!("it has no {missing}")))?;
        let starts = view.corpus.since(0).into_iter().map(|entry| entry.input.clone());
        let exploration = ExplorationConfig {
            seed: view.random.u64(..),
            max_size: view.max_size,
            ..self.config.exploration.clone()
        };
        Ok(Work {
            exploration: Exploration::new(view.map(), executor, starts, exploration),
            measure: Measure::new(view.map(), self.config.criterion, runner),
            selection: Selection::new(self.config.pick),
            failing: FailingRuns::default(),
            start: Instant::now(),
        })
    }

    /// Looks for candidates within a budget. Whether there is more to be had, and what failed.
    fn explore(
        &mut self,
        work: &mut Work,
        view: &mut CampaignView<'_>,
        budget: &Budget,
    ) -> Result<(bool, Vec<Candidate>), StrategyError> {
        let bound = self.config.bound;
        let mut solver = work.exploration.solver();
        let mut failures = Vec::new();
        while failures.is_empty() && !view.is_over(budget) {
            let is_late = bound.wall.is_some_and(|wall| work.start.elapsed() >= wall);
            if is_late || self.counts.n_candidates >= bound.candidates {
                return Ok((false, failures));
            }
            let n_before = work.exploration.n_runs();
            let progress = work.exploration.advance(view.map(), &mut solver)?;
            view.spent.target_runs += work.exploration.n_runs() - n_before;
            let n_measured = work.measure.n_runs();
            match progress {
                Progress::Ran(ran) => {
                    view.spent.inputs += 1;
                    self.counts.n_candidates += 1;
                    failures.extend(work.take(ran, view)?);
                    let n_more = work.measure.n_runs() - n_measured;
                    match self.config.criterion {
                        Criterion::DecisionKills => view.spent.mutant_runs += n_more,
                        _ => view.spent.target_runs += n_more,
                    }
                }
                Progress::Asked => {}
                Progress::Exhausted => return Ok((false, failures)),
            }
        }
        Ok((true, failures))
    }

    /// The seeds that were chosen, with what is free of each as long as nobody asks to stop.
    fn seeds(
        &mut self,
        work: &mut Work,
        view: &mut CampaignView<'_>,
    ) -> Result<Vec<Candidate>, StrategyError> {
        let chosen = match self.config.criterion {
            Criterion::None => work.selection.all(),
            _ => work.selection.choose(),
        };
        self.counts.n_templates = work.selection.templates().len();
        self.counts.n_selected = chosen.len();
        let mut seeds = Vec::with_capacity(chosen.len());
        for Chosen { index, new } in chosen {
            let input = work.selection.templates()[index].candidate.clone();
            // Of all candidates it would take as long as making them.
            let wants_freedom = self.config.criterion != Criterion::None && !view.is_over(&Budget::UNLIMITED);
            let n_before = work.exploration.n_runs();
            if wants_freedom && let Some((freedom, _)) = work.exploration.freedom(&input)? {
                self.config.freedoms.tell(&input, freedom);
            }
            view.spent.target_runs += work.exploration.n_runs() - n_before;
            self.proposed.insert(input.address());
            let describe = |element: &u32| work.measure.elements().describe(view.map(), *element);
            let described: Vec<Described> = new.iter().map(describe).collect();
            seeds.push(Candidate {
                reason: reason(&described),
                input: Arc::unwrap_or_clone(input),
                parent: None,
                kills: described.iter().filter_map(Described::kill).collect(),
                failed: None,
            });
        }
        Ok(seeds)
    }
}

impl Strategy for CseFuzzStrategy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn step(
        &mut self,
        view: &mut CampaignView<'_>,
        budget: &Budget,
    ) -> Result<Vec<Candidate>, StrategyError> {
        let mut work = match std::mem::replace(&mut self.phase, Phase::Fuzzing) {
            Phase::Fuzzing => return self.fuzz.step(view, budget),
            Phase::Exploring(work) => work,
            // A campaign that goes on has its seeds.
            Phase::Unbegun if has_seeds(view) => return self.fuzz.step(view, budget),
            Phase::Unbegun => Box::new(self.begin(view, budget.wall.is_some() || budget.cpu.is_some())?),
        };
        let (has_more, mut candidates) = self.explore(&mut work, view, budget)?;
        if has_more {
            self.phase = Phase::Exploring(work);
            return Ok(candidates);
        }
        candidates.extend(self.seeds(&mut work, view)?);
        match candidates.is_empty() {
            true => self.fuzz.step(view, budget),
            false => Ok(candidates),
        }
    }

    fn observe(&mut self, finding: &Finding) {
        if matches!(finding.kind, FindingKind::Kept(_)) && self.proposed.remove(&finding.input.address()) {
            self.counts.n_effective += 1;
        }
        // The fuzzer knows its own candidates by its own name.
        let is_own = finding.strategy == NAME;
        match is_own {
            true => self.fuzz.observe(&Finding { strategy: self.fuzz.name().into(), ..finding.clone() }),
            false => self.fuzz.observe(finding),
        }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = self.fuzz.notices();
        if matches!(self.phase, Phase::Fuzzing) && self.counts.n_candidates > 0 {
            let SeedCounts { n_candidates, n_templates, n_selected, .. } = self.counts;
            notices.push(format!(
                "{n_selected} seeds were chosen by criterion `{}`, from {n_candidates} candidates that cover {n_templates} different sets of things",
                self.config.criterion,
            ));
        }
        notices
    }
}

impl Work {
    /// Notes what a candidate covers; one on which the program fails is a finding, and no seed.
    fn take(&mut self, ran: Ran, view: &mut CampaignView<'_>) -> Result<Option<Candidate>, StrategyError> {
        let Ran { input, traced, .. } = ran;
        let ending = traced.ending();
        if ending.is_failure() {
            let hits = Seen::hits(traced.counters());
            return Ok(self.failing.is_worth(ending, &hits, false).then(|| Candidate {
                input: Arc::unwrap_or_clone(input),
                parent: None,
                reason: "a candidate by concolic testing".into(),
                kills: Vec::new(),
                failed: Some(ending.clone()),
            }));
        }
        if !matches!(ending, Ending::Exited { .. }) {
            return Ok(None);
        }
        let elements = match self.measure.criterion() {
            // Each is its own template.
            Criterion::None => vec![self.selection.templates().len() as u32],
            _ => self.measure.of(&input, traced.counters())?,
        };
        let cost = cost(&input, traced.path().steps().len());
        self.selection.add(&elements, cost, input, view.random);
        Ok(None)
    }
}

/// What makes one candidate cheaper than another: bytes, then how much happens.
pub fn cost(input: &Input, n_steps: usize) -> u64 {
    let size: usize = cairn_concolic::contents(input).map(|(_, bytes)| bytes.len()).sum();
    (size as u64) << 32 | (n_steps as u64).min(u64::from(u32::MAX))
}

/// How all reasons begin for which seeds are proposed.
const REASON: &str = "a symbolic seed";

/// Whether seeds of this strategy are in the corpus.
fn has_seeds(view: &CampaignView<'_>) -> bool {
    let is_seed = |entry: &Arc<Entry>| {
        entry.provenance.strategy == NAME && entry.provenance.made_by.starts_with(REASON)
    };
    view.corpus.since(0).iter().any(is_seed)
}

fn reason(new: &[Described]) -> String {
    let named: Vec<&str> = new.iter().filter_map(Described::text).take(NAMED).collect();
    let more = match new.len() - named.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    match named.is_empty() {
        true => REASON.into(),
        false => format!("{REASON}: {}{more}", named.join(", ")),
    }
}
