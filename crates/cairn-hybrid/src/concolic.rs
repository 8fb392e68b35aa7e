//! Concolic testing as a campaign uses it.

use crate::tracer::SymbolicTracer;
use cairn_concolic::search::{Advance, Change, Explorer, Memory, Ran, SearchConfig, Share, SolvedBefore};
use cairn_model::{Ending, ProgramMap};
use cairn_search::{Heuristic, Question};
use cairn_solver::Config;
use cairn_strategy::{
    Budget, CampaignView, Candidate, Entry, EntryId, FailingRuns, Finding, Seen, Strategy, StrategyError,
};
use std::{collections::VecDeque, sync::Arc, time::Duration};

/// How a campaign's inputs are gone on from.
#[derive(Clone, Debug)]
pub struct ConcolicConfig {
    /// What is decided otherwise next.
    pub heuristic: Heuristic,
    /// Which inputs may be made of which.
    pub change: Change,
    /// Runs and answers; shared by workers.
    pub memory: Memory,
    /// Which questions were asked; shared by workers.
    pub before: SolvedBefore,
    /// Which questions are this worker's.
    pub share: Share,
}

/// Concolic testing of everything that a campaign keeps.
pub struct ConcolicStrategy {
    config: ConcolicConfig,
    /// Made when the program is known.
    work: Option<Work>,
    /// How many entries of the corpus are known.
    n_known: usize,
    /// Those that were not run.
    pending: VecDeque<Arc<Entry>>,
}

struct Work {
    tracer: SymbolicTracer,
    search: SearchConfig,
    explorer: Explorer,
    /// By path: the entry that it is, or that it was made from.
    entries: Vec<Option<EntryId>>,
    /// What was proposed reaches.
    proposed: Seen,
    failing: FailingRuns,
    /// Questions asked since an entry was run.
    n_since_entry: usize,
    /// Counters that were hit when it last heard of others.
    n_heard: usize,
}

const NAME: &str = "concolic";

/// What a question may cost, about a second: there are always others, and most of those that take long have no answer.
const QUESTION_BUDGET: cairn_solver::Budget =
    cairn_solver::Budget { evaluations: 50_000, rlimit: 1_000_000, timeout: Duration::from_secs(2) };

/// What it may cost at first: those that are easy take less, and most of the others have no answer. This is work and not time, so that
/// the same is asked on a busy machine.
const FIRST_BUDGET: cairn_solver::Budget =
    cairn_solver::Budget { evaluations: 500, rlimit: 10_000, timeout: Duration::from_secs(1) };

/// Where work is limited and not time, decisions must not depend on the clock.
const PATIENCE: Duration = Duration::from_secs(120);

/// Questions between two entries of the corpus, so that a fuzzer that keeps thousands of them does not keep all from being asked.
const QUESTIONS_PER_ENTRY: usize = 8;

/// After so many inputs a step ends that has found something, so that others hear of it.
const INPUTS_PER_STEP: u64 = 64;

/// What a question may cost at first, where time is limited, and at the most.
pub fn question_budgets(is_timed: bool) -> (Option<cairn_solver::Budget>, cairn_solver::Budget) {
    match is_timed {
        true => (Some(FIRST_BUDGET), QUESTION_BUDGET),
        // Nobody is kept waiting, and nothing may depend on the clock.
        false => (None, cairn_solver::Budget { timeout: PATIENCE, ..QUESTION_BUDGET }),
    }
}

impl ConcolicStrategy {
    /// Knows no program yet.
    pub fn new(config: ConcolicConfig) -> Self {
        Self { config, work: None, n_known: 0, pending: VecDeque::new() }
    }

    fn begin(&self, view: &mut CampaignView<'_>, is_timed: bool) -> Result<Work, StrategyError> {
        let Some(executor) = view.symbolic(SymbolicTracer::config(self.config.heuristic, is_timed))? else {
            return Err(StrategyError::Unfit { strategy: NAME, reason: "it has no symbolic view".into() });
        };
        let (at_first, budget) = question_budgets(is_timed);
        let search = SearchConfig {
            seed: view.random.u64(..),
            // A run that does not do what it should may still do something new.
            solver: Config::default(),
            budget,
            at_first,
            before: Some(self.config.before.clone()),
            share: Some(self.config.share.clone()),
            change: self.config.change.clone(),
            ..SearchConfig::default()
        };
        let selector = self.config.heuristic.selector();
        let traces = self.config.memory.traces.clone();
        Ok(Work {
            tracer: SymbolicTracer::new(executor, view.max_size),
            explorer: Explorer::new(view.map(), selector, &search, traces),
            search,
            entries: Vec::new(),
            proposed: Seen::nothing(view.map().n_counters),
            failing: FailingRuns::default(),
            n_since_entry: 0,
            n_heard: 0,
        })
    }
}

impl Strategy for ConcolicStrategy {
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
            None => self.begin(view, budget.wall.is_some() || budget.cpu.is_some())?,
        };
        let entries = view.corpus.since(self.n_known);
        self.n_known += entries.len();
        self.pending.extend(entries);
        work.hear(view);
        let mut solver = work.search.solver(&self.config.memory);
        let mut candidates = Vec::new();
        while !view.is_over(budget) && (candidates.is_empty() || view.spent.inputs < INPUTS_PER_STEP) {
            if work.n_since_entry >= QUESTIONS_PER_ENTRY || work.entries.is_empty() {
                work.add_entry(view, &mut self.pending)?;
            }
            let n_before = work.tracer.n_runs();
            let advance = work.explorer.advance(view.map(), &mut work.tracer, &mut solver)?;
            let n_made = work.tracer.n_runs() - n_before;
            view.spent.target_runs += n_made;
            // What another worker has tried is no other input.
            view.spent.inputs +=
                u64::from(n_made > 0 && advance.as_ref().is_some_and(|advance| advance.ran.is_some()));
            work.n_since_entry += 1;
            match advance {
                Some(advance) => candidates.extend(work.candidate(view, advance)),
                None if work.add_entry(view, &mut self.pending)? => {}
                None if work.explorer.ask_more(view.map(), self.config.heuristic) => {}
                None => break,
            }
        }
        self.work = Some(work);
        Ok(candidates)
    }

    /// What is kept is heard of with the corpus, and what is not kept is gone on from all the same.
    fn observe(&mut self, _finding: &Finding) {}
}

impl Work {
    /// Takes over what the others have reached, if that is more than before.
    fn hear(&mut self, view: &CampaignView<'_>) {
        let n_hit = view.seen.n_hit();
        if n_hit > self.n_heard {
            self.n_heard = n_hit;
            // A class of a count is no count, but as much or as little zero.
            self.explorer.hear(view.map(), view.seen.classes());
        }
    }

    /// Runs the next entry of the corpus that was not run; false if there is none.
    fn add_entry(
        &mut self,
        view: &mut CampaignView<'_>,
        pending: &mut VecDeque<Arc<Entry>>,
    ) -> Result<bool, StrategyError> {
        self.n_since_entry = 0;
        while let Some(entry) = pending.pop_front() {
            if let Some(path) = self.explorer.path_of(&entry.input) {
                self.entries[path.0 as usize] = Some(entry.id);
                continue;
            }
            let n_before = self.tracer.n_runs();
            self.explorer.begin(view.map(), &mut self.tracer, &entry.input)?;
            view.spent.target_runs += self.tracer.n_runs() - n_before;
            self.entries.push(Some(entry.id));
            return Ok(true);
        }
        Ok(false)
    }

    /// What a run that was made is worth proposing for.
    fn candidate(&mut self, view: &CampaignView<'_>, advance: Advance) -> Option<Candidate> {
        let Ran { input, traced, .. } = advance.ran?;
        let parent = self.entries[advance.question.path.0 as usize];
        self.entries.push(parent);
        let hits = Seen::hits(traced.counters());
        let is_new = view.seen.new_in(&hits).0 > 0 && self.proposed.new_in(&hits).0 > 0;
        let ending = traced.ending();
        let failed = ending.is_failure() && self.failing.is_worth(ending, &hits, false);
        // What ended otherwise is no input that the program wants. What only failing inputs reach stays new for others.
        let is_good = is_new && matches!(ending, Ending::Exited { .. });
        if !failed && !is_good {
            return None;
        }
        if is_good {
            self.proposed.add(&hits);
        }
        Some(Candidate {
            input: Arc::unwrap_or_clone(input),
            parent,
            reason: self.reason(view.map(), advance.question),
            kills: Vec::new(),
            failed: failed.then(|| ending.clone()),
        })
    }

    fn reason(&self, map: &ProgramMap, question: Question) -> String {
        let branch = self.explorer.view(map).branch(question);
        match branch.and_then(|branch| map.conditions.get(branch.condition.index())) {
            Some(condition) => format!("`{}` decided otherwise", condition.text),
            None => "a branch of a library function decided otherwise".into(),
        }
    }
}
