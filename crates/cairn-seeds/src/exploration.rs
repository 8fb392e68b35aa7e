//! Candidates, by bounded concolic testing.

use cairn_concolic::{
    Freedom,
    search::{Change, Counts, Explorer, Memory, Ran, SearchConfig, Share, SolvedBefore, Traced},
};
use cairn_executor::{ExecutorError, SymbolicExecutor};
use cairn_hybrid::{SymbolicTracer, question_budgets};
use cairn_model::{Input, ProgramMap};
use cairn_search::Heuristic;
use cairn_solver::{Config, Standard};
use std::{collections::VecDeque, sync::Arc};

/// How candidates are looked for.
#[derive(Clone, Debug)]
pub struct ExplorationConfig {
    /// What is decided otherwise next.
    pub heuristic: Heuristic,
    /// Which inputs may be made of which.
    pub change: Change,
    /// Runs and answers; may be shared.
    pub memory: Memory,
    /// Which questions were asked; may be shared.
    pub before: SolvedBefore,
    /// Which questions are this search's; all without.
    pub share: Option<Share>,
    /// Bytes an input may have in a region.
    pub max_size: u64,
    /// Whether time is limited, and with it how long a question may take.
    pub is_timed: bool,
    /// Where the heuristic's chances come from.
    pub seed: u64,
}

/// A search for candidates.
pub struct Exploration {
    tracer: SymbolicTracer,
    explorer: Explorer,
    search: SearchConfig,
    config: ExplorationConfig,
    /// Inputs to go on from that were not run, the next one first.
    pending: VecDeque<Input>,
    has_begun: bool,
    n_since_start: usize,
    /// Questions until the next input.
    n_per_start: usize,
}

/// What came of a question.
pub enum Progress {
    /// A run that nobody made before.
    Ran(Ran),
    /// There was no answer, or none that is new.
    Asked,
    /// There is nothing left to ask.
    Exhausted,
}

/// Questions between two inputs to go on from, at first.
const QUESTIONS_PER_START: usize = 8;

impl Exploration {
    /// From some inputs, the smallest of them first: of what is small there are many candidates in the time that one of a large one takes.
    pub fn new(
        map: &ProgramMap,
        executor: SymbolicExecutor,
        starts: impl IntoIterator<Item = Input>,
        config: ExplorationConfig,
    ) -> Self {
        let (at_first, budget) = question_budgets(config.is_timed);
        let search = SearchConfig {
            seed: config.seed,
            // A run that does not do what it should may still do something new.
            solver: Config::default(),
            budget,
            at_first,
            before: Some(config.before.clone()),
            share: config.share.clone(),
            change: config.change.clone(),
            ..SearchConfig::default()
        };
        let selector = config.heuristic.selector();
        let mut pending: Vec<Input> = starts.into_iter().collect();
        pending.sort_by_key(size);
        Self {
            tracer: SymbolicTracer::new(executor, config.max_size),
            explorer: Explorer::new(map, selector, &search, config.memory.traces.clone()),
            search,
            config,
            pending: pending.into(),
            has_begun: false,
            n_since_start: 0,
            n_per_start: QUESTIONS_PER_START,
        }
    }

    /// Goes on from more inputs, the last of them first, and prefers what none has reached who hit these counters.
    pub fn hear(&mut self, map: &ProgramMap, counters: &[u8], starts: impl IntoIterator<Item = Input>) {
        self.explorer.hear(map, counters);
        for start in starts {
            self.pending.push_front(start);
            self.n_per_start = QUESTIONS_PER_START;
        }
    }

    /// How the symbolic view is to be run.
    pub fn executor_config(heuristic: Heuristic, is_timed: bool) -> cairn_executor::SymbolicConfig {
        SymbolicTracer::config(heuristic, is_timed)
    }

    /// A solver for this thread.
    pub fn solver(&self) -> Standard {
        self.search.solver(&self.config.memory)
    }

    /// Asks the next question.
    pub fn advance(&mut self, map: &ProgramMap, solver: &mut Standard) -> Result<Progress, ExecutorError> {
        let is_due = !self.has_begun || self.n_since_start >= self.n_per_start;
        if is_due && let Some(ran) = self.start(map)? {
            return Ok(Progress::Ran(ran));
        }
        self.n_since_start += 1;
        if let Some(advance) = self.explorer.advance(map, &mut self.tracer, solver)? {
            return Ok(advance.ran.map_or(Progress::Asked, Progress::Ran));
        }
        if let Some(ran) = self.start(map)? {
            return Ok(Progress::Ran(ran));
        }
        Ok(match self.explorer.ask_more(map, self.config.heuristic) {
            true => Progress::Asked,
            false => Progress::Exhausted,
        })
    }

    /// Runs the next input to go on from.
    fn start(&mut self, map: &ProgramMap) -> Result<Option<Ran>, ExecutorError> {
        self.n_since_start = 0;
        self.has_begun = true;
        while let Some(input) = self.pending.pop_front() {
            if self.explorer.path_of(&input).is_none() {
                // The next ones are larger.
                self.n_per_start += QUESTIONS_PER_START;
                return Ok(Some(self.explorer.begin(map, &mut self.tracer, &input)?));
            }
        }
        Ok(None)
    }

    /// Inputs to go on from that it did not come to.
    pub fn not_begun(&mut self) -> Vec<Input> {
        let is_new = |input: &Input| self.explorer.path_of(input).is_none();
        self.pending.drain(..).filter(is_new).collect()
    }

    /// What the bytes of an input may become without leaving the way of its run; `None` if it could not be followed to its end.
    pub fn freedom(&mut self, input: &Input) -> Result<Option<(Freedom, Arc<Traced>)>, ExecutorError> {
        let traced = self.config.memory.traces.get(&mut self.tracer, input)?;
        Ok((!traced.is_cut()).then(|| (Freedom::of(traced.path()), traced)))
    }

    /// How many runs were made.
    pub fn n_runs(&self) -> u64 {
        self.tracer.n_runs()
    }

    /// What became of questions.
    pub fn counts(&self) -> &Counts {
        self.explorer.counts()
    }

    /// Whether there is no other way through the program: every flip was executed or proved impossible.
    pub fn is_exhausted(&self, map: &ProgramMap) -> bool {
        self.explorer.is_exhausted(map)
    }
}

/// Bytes of an input.
pub(crate) fn size(input: &Input) -> usize {
    cairn_concolic::contents(input).map(|(_, bytes)| bytes.len()).sum()
}
