//! Symbolic seeds, then fuzzing.

use crate::{
    criterion::Criterion,
    elements::Described,
    exploration::{Exploration, ExplorationConfig, Progress, size},
    instalments::{Begins, Instalments, Turn},
    measure::{Measure, Runner},
    selection::{Chosen, Pick, Selection},
};
use cairn_concolic::{Freedoms, search::Ran};
use cairn_model::{Ending, Input};
use cairn_strategy::{
    Budget, CampaignView, Candidate, Entry, FailingRuns, Finding, FindingKind, Seen, Strategy, StrategyError,
};
use std::{
    collections::{HashMap, HashSet},
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
    /// Who has the first turn.
    pub begins: Begins,
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

impl Bound {
    /// What may be spent, as [`Meter`] measures it.
    fn most(&self, is_timed: bool) -> u64 {
        match self.wall.filter(|_| is_timed) {
            Some(wall) => wall.as_micros() as u64,
            None if is_timed => u64::MAX / 2,
            None => self.candidates,
        }
    }
}

/// The paper's technique: candidates by concolic testing, of which a few seed a fuzzer.
pub struct CseFuzzStrategy {
    config: SeedsConfig,
    /// Made when the program is known.
    work: Option<Box<Work>>,
    fuzz: Box<dyn Strategy>,
    /// Who made what was proposed and not judged yet, by address.
    proposed: HashMap<String, Turn>,
    counts: SeedCounts,
    /// What a person should know.
    told: Vec<String>,
}

struct Work {
    instalments: Instalments,
    /// Counters that inputs of the corpus hit.
    reached: Seen,
    /// Begins with the search's first turn: starting its targets takes time.
    search: Option<Search>,
}

/// The search for candidates.
struct Search {
    exploration: Exploration,
    measure: Measure,
    selection: Selection<Arc<Input>>,
    failing: FailingRuns,
    /// Seeds that were proposed, by address.
    seeds: HashSet<String>,
    /// How many entries of the corpus it has heard of.
    n_heard: usize,
    /// Time that it has taken.
    searched: Duration,
}

/// Measures what is spent: time where it is limited, else inputs.
struct Meter {
    start: Option<Instant>,
    last: u64,
}

/// What came of the search for candidates.
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

fn unfit(reason: &str) -> StrategyError {
    StrategyError::Unfit { strategy: NAME, reason: reason.into() }
}

/// How many things a reason names.
const NAMED: usize = 2;

impl CseFuzzStrategy {
    /// Goes on with `fuzz` when seeds are there.
    pub fn new(config: SeedsConfig, fuzz: Box<dyn Strategy>) -> Self {
        let (proposed, counts) = (HashMap::new(), SeedCounts::default());
        Self { config, work: None, fuzz, proposed, counts, told: Vec::new() }
    }

    /// What came of the search for candidates so far.
    pub fn counts(&self) -> SeedCounts {
        self.counts
    }

    fn begin(&mut self, view: &mut CampaignView<'_>, is_timed: bool) -> Result<Work, StrategyError> {
        if !view.target.has_symbolic() {
            return Err(unfit("it has no symbolic view"));
        }
        let entries = view.corpus.since(0);
        let mut reached = Seen::nothing(view.map().n_counters);
        entries.iter().for_each(|entry| reached.add(&entry.hits));
        let most = self.config.bound.most(is_timed);
        // A campaign that goes on has its seeds.
        let n_seeds = entries.iter().filter(|entry| is_seed(entry)).count();
        if n_seeds == 0 {
            return Ok(Work {
                instalments: Instalments::new(self.config.begins, most),
                reached,
                search: None,
            });
        }
        let search = Some(self.begin_search(view, is_timed)?);
        self.told.push(format!("what is free of {n_seeds} symbolic seeds was found out again"));
        Ok(Work { instalments: Instalments::after_search(most), reached, search })
    }

    fn begin_search(&mut self, view: &mut CampaignView<'_>, is_timed: bool) -> Result<Search, StrategyError> {
        let heuristic = self.config.exploration.heuristic;
        let executor = view.symbolic(Exploration::executor_config(heuristic, is_timed))?;
        let executor = executor.ok_or_else(|| unfit("it has no symbolic view"))?;
        let runner = Runner::of(self.config.criterion, view.target)?;
        let runner = runner.map_err(|missing| unfit(&format!("it has no {missing}")))?;
        let entries = view.corpus.since(0);
        let exploration = ExplorationConfig {
            seed: view.random.u64(..),
            max_size: view.max_size,
            ..self.config.exploration.clone()
        };
        let starts = entries.iter().map(|entry| entry.input.clone());
        let mut exploration = Exploration::new(view.map(), executor, starts, exploration);
        let seeds: Vec<&Arc<Entry>> = entries.iter().filter(|entry| is_seed(entry)).collect();
        for seed in &seeds {
            self.remember(&mut exploration, &seed.input, view)?;
        }
        Ok(Search {
            exploration,
            measure: Measure::new(view.map(), self.config.criterion, runner),
            selection: Selection::new(self.config.pick),
            failing: FailingRuns::default(),
            seeds: seeds.iter().map(|seed| seed.input.address()).collect(),
            n_heard: entries.len(),
            searched: Duration::ZERO,
        })
    }

    /// Tells what of a seed is free, unless somebody has, as long as nobody asks to stop.
    fn remember(
        &self,
        exploration: &mut Exploration,
        seed: &Input,
        view: &mut CampaignView<'_>,
    ) -> Result<(), StrategyError> {
        let n_before = exploration.n_runs();
        let is_wanted = !view.is_over(&Budget::UNLIMITED) && self.config.freedoms.of(seed).is_none();
        if is_wanted && let Some((freedom, _)) = exploration.freedom(seed)? {
            self.config.freedoms.tell(seed, freedom);
        }
        view.spent.target_runs += exploration.n_runs() - n_before;
        Ok(())
    }

    /// Looks for candidates within a budget and an instalment. Whether there is more to be had of it, and what failed.
    fn explore(
        &mut self,
        search: &mut Search,
        instalments: &mut Instalments,
        view: &mut CampaignView<'_>,
        budget: &Budget,
        meter: &mut Meter,
    ) -> Result<(bool, Vec<Candidate>), StrategyError> {
        let bound = self.config.bound;
        let mut solver = search.exploration.solver();
        let mut failures = Vec::new();
        let start = Instant::now();
        let mut is_over = false;
        while failures.is_empty() && !is_over && !view.is_over(budget) {
            let n_before = search.exploration.n_runs();
            let progress = search.exploration.advance(view.map(), &mut solver)?;
            view.spent.target_runs += search.exploration.n_runs() - n_before;
            let n_measured = search.measure.n_runs();
            match progress {
                Progress::Ran(ran) => {
                    view.spent.inputs += 1;
                    self.counts.n_candidates += 1;
                    failures.extend(search.take(ran, view)?);
                    let n_more = search.measure.n_runs() - n_measured;
                    match self.config.criterion {
                        Criterion::DecisionKills => view.spent.mutant_runs += n_more,
                        _ => view.spent.target_runs += n_more,
                    }
                }
                Progress::Asked => {}
                Progress::Exhausted => is_over = true,
            }
            instalments.spend(meter.read(view));
            is_over |= instalments.allowance() == 0
                || bound.wall.is_some_and(|wall| search.searched + start.elapsed() >= wall)
                || self.counts.n_candidates >= bound.candidates;
        }
        search.searched += start.elapsed();
        Ok((!is_over, failures))
    }

    /// The seeds that were chosen and not proposed before, with what is free of each as long as nobody asks to stop.
    fn seeds(
        &mut self,
        search: &mut Search,
        view: &mut CampaignView<'_>,
    ) -> Result<Vec<Candidate>, StrategyError> {
        let chosen = match self.config.criterion {
            Criterion::None => search.selection.all(),
            _ => search.selection.choose(),
        };
        self.counts.n_templates = search.selection.templates().len();
        let mut seeds = Vec::with_capacity(chosen.len());
        for Chosen { index, new } in chosen {
            let input = search.selection.templates()[index].candidate.clone();
            if !search.seeds.insert(input.address()) {
                continue;
            }
            // Of all candidates it would take as long as making them.
            if self.config.criterion != Criterion::None {
                self.remember(&mut search.exploration, &input, view)?;
            }
            self.counts.n_selected += 1;
            self.proposed.insert(input.address(), Turn::Search);
            let describe = |element: &u32| search.measure.elements().describe(view.map(), *element);
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

    /// The search's turn. It ends with seeds, or goes on in the next step.
    fn search(
        &mut self,
        work: &mut Work,
        view: &mut CampaignView<'_>,
        budget: &Budget,
    ) -> Result<Vec<Candidate>, StrategyError> {
        let mut meter = Meter::new(view, budget);
        let mut search = match work.search.take() {
            Some(search) => search,
            None => self.begin_search(view, meter.is_timed())?,
        };
        let news = view.corpus.since(search.n_heard);
        search.n_heard += news.len();
        let starts = news.iter().map(|entry| entry.input.clone());
        search.exploration.hear(view.map(), view.seen.classes(), starts);
        let instalments = &mut work.instalments;
        let (has_more, mut candidates) = self.explore(&mut search, instalments, view, budget, &mut meter)?;
        if !has_more {
            candidates.extend(self.seeds(&mut search, view)?);
            instalments.spend(meter.read(view));
            instalments.end_search();
            if self.told.is_empty() && self.counts.n_candidates > 0 {
                self.told.push(self.first_seeds());
            }
        }
        work.search = Some(search);
        Ok(candidates)
    }

    /// What came of the search's first turn.
    fn first_seeds(&self) -> String {
        let SeedCounts { n_candidates, n_templates, n_selected, .. } = self.counts;
        let criterion = self.config.criterion;
        format!(
            "the first {n_selected} seeds were chosen by criterion `{criterion}`, from {n_candidates} candidates that cover {n_templates} different sets of things"
        )
    }

    /// The fuzzer's turn, at most for a step.
    fn fuzz(
        &mut self,
        work: &mut Work,
        view: &mut CampaignView<'_>,
        budget: &Budget,
    ) -> Result<Vec<Candidate>, StrategyError> {
        let mut meter = Meter::new(view, budget);
        let budget = budget.and(&meter.budget(work.instalments.allowance(), view));
        let candidates = self.fuzz.step(view, &budget)?;
        work.instalments.spend(meter.read(view));
        self.proposed.extend(candidates.iter().map(|candidate| (candidate.input.address(), Turn::Fuzz)));
        Ok(candidates)
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
        let mut work = match self.work.take() {
            Some(work) => work,
            None => Box::new(self.begin(view, budget.wall.is_some() || budget.cpu.is_some())?),
        };
        let candidates = loop {
            work.instalments.decide();
            let turn = work.instalments.turn();
            let candidates = match turn {
                Turn::Search => self.search(&mut work, view, budget)?,
                Turn::Fuzz => self.fuzz(&mut work, view, budget)?,
            };
            // A turn that ends without finding anything is no reason to say that there is nothing to do.
            let is_idle = turn == Turn::Fuzz && work.instalments.allowance() > 0;
            if !candidates.is_empty() || is_idle || view.is_over(budget) {
                break candidates;
            }
        };
        self.work = Some(work);
        Ok(candidates)
    }

    fn observe(&mut self, finding: &Finding) {
        let by = self.proposed.remove(&finding.input.address());
        if let (FindingKind::Kept(entry), Some(work)) = (&finding.kind, &mut self.work) {
            let (_, n_reached) = work.reached.new_in(&entry.hits);
            work.reached.add(&entry.hits);
            by.iter().for_each(|who| work.instalments.earn(*who, n_reached as u64));
            self.counts.n_effective += usize::from(by == Some(Turn::Search));
        }
        // The fuzzer knows its own candidates by its own name.
        let is_own = finding.strategy == NAME;
        match is_own {
            true => self.fuzz.observe(&Finding { strategy: self.fuzz.name().into(), ..finding.clone() }),
            false => self.fuzz.observe(finding),
        }
    }

    fn notices(&self) -> Vec<String> {
        self.fuzz.notices().into_iter().chain(self.told.clone()).collect()
    }
}

impl Search {
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

impl Meter {
    fn new(view: &CampaignView<'_>, budget: &Budget) -> Self {
        let is_timed = budget.wall.is_some() || budget.cpu.is_some();
        Self { start: is_timed.then(Instant::now), last: if is_timed { 0 } else { view.spent.inputs } }
    }

    fn is_timed(&self) -> bool {
        self.start.is_some()
    }

    /// What was spent since it was read last.
    fn read(&mut self, view: &CampaignView<'_>) -> u64 {
        let now = self.start.map_or(view.spent.inputs, |start| start.elapsed().as_micros() as u64);
        now - std::mem::replace(&mut self.last, now)
    }

    /// A budget that is over when so much more is spent.
    fn budget(&self, more: u64, view: &mut CampaignView<'_>) -> Budget {
        if self.start.is_none() {
            return Budget::of_inputs(view.spent.inputs + more);
        }
        view.is_over(&Budget::of_wall(Duration::MAX));
        Budget::of_wall(view.spent.wall + Duration::from_micros(more))
    }
}

/// What makes one candidate cheaper than another: bytes, then how much happens.
pub fn cost(input: &Input, n_steps: usize) -> u64 {
    (size(input) as u64) << 32 | (n_steps as u64).min(u64::from(u32::MAX))
}

/// How all reasons begin for which seeds are proposed.
const REASON: &str = "a symbolic seed";

/// Whether an input of the corpus is a seed of this strategy.
fn is_seed(entry: &Entry) -> bool {
    entry.provenance.strategy == NAME && entry.provenance.made_by.starts_with(REASON)
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
