//! Concolic testing: run, decide one branch otherwise, run again.
//!
//! This is Algorithm 1 of Cha, Hong, Lee and Oh, *Automatically Generating Search Heuristics for Concolic Testing* (ICSE 2018), with any
//! [`Selector`] in the place of *Choose*. [`search`] is one search from beginning to end; an [`Explorer`] is the same question by
//! question, for those who have something else to do in between.
//!
//! Nothing here runs a target: a [`Tracer`] does. Searches with the same [`Memory`] make each run and answer each query once, however many
//! they are, and decide as if they were alone, except that what one has refuted the others need not give up on.

mod claims;
mod explorer;
mod memory;
mod recent;
mod solved_before;
mod traced;

pub use self::{
    claims::{Claims, Share},
    explorer::{Advance, Counts, Explorer, Ran},
    memory::{Memory, Traces},
    solved_before::SolvedBefore,
    traced::{Traced, Tracer},
};

use cairn_model::{Coverage, Input, ProgramMap};
use cairn_search::Selector;
use cairn_solver::{Budget, Config, Standard, standard_sharing};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

/// How a search is made.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// Runs of the program, the first included. Default: 4000, as in the paper.
    pub n_executions: u32,
    /// Time after which no question is asked any more. Default: none.
    pub wall: Option<Duration>,
    /// Turns of each path that are looked at. Default: 10 000.
    pub bound: usize,
    /// Where the selector's chances come from. Default: 0.
    pub seed: u64,
    /// What a question may cost. Default: 40 000 evaluations, an `rlimit` of 400 000, 2 seconds.
    pub budget: Budget,
    /// What it may cost at first: those for which that is too little wait until there are no others. Default: all of it.
    pub at_first: Option<Budget>,
    /// How questions are answered. Default: the usual way, of whole paths only.
    pub solver: Config,
    /// Leaves questions out that are like others. Default: none is left out.
    pub before: Option<SolvedBefore>,
    /// Leaves questions to other searches as long as there are some of its own. Default: all are its own.
    pub share: Option<Share>,
    /// Which inputs may be made of which. Default: any of any.
    pub change: Change,
}

/// Whether an input may be made of another: the first of the second.
#[derive(Clone, Default)]
pub struct Change(Option<Arc<ChangeTest>>);

type ChangeTest = dyn Fn(&Input, &Input) -> bool + Send + Sync;

impl Change {
    /// Where `is_allowed` says so of the new input and the one it was made of.
    pub fn only(is_allowed: impl Fn(&Input, &Input) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_allowed)))
    }

    /// Whether `new` may be made of `old`.
    pub fn is_allowed(&self, new: &Input, old: &Input) -> bool {
        self.0.as_ref().is_none_or(|test| test(new, old))
    }
}

impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "some" } else { "any" })
    }
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            n_executions: 4000,
            wall: None,
            bound: 10_000,
            seed: 0,
            budget: Budget { evaluations: 40_000, rlimit: 400_000, timeout: Duration::from_secs(2) },
            at_first: None,
            solver: Config { optimistic: false, ..Config::default() },
            before: None,
            share: None,
            change: Change::default(),
        }
    }
}

impl SearchConfig {
    /// A solver for this thread that shares what it finds out.
    pub fn solver(&self, memory: &Memory) -> Standard {
        standard_sharing(self.solver, memory.answers.clone())
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Runs of the program, the first included.
    pub n_executions: u32,
    /// What they covered.
    pub coverage: Coverage,
    /// How coverage grew: a point for each run that took a branch that none took before.
    pub growth: Vec<Growth>,
    /// What became of questions.
    pub counts: Counts,
    /// Whether every flip within the bound was executed or proved impossible, on paths of which everything could be followed: there is no
    /// other way through the program.
    pub is_exhausted: bool,
}

/// A run that took branches that none took before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The how manyth run it was, from 1.
    pub execution: u32,
    /// When it was over, since the search began.
    pub elapsed: Duration,
    /// Branches taken by then.
    pub n_branches: usize,
    /// How many flips led to it from the start.
    pub generation: usize,
    /// Its input.
    pub input: Input,
}

/// Searches from an input.
pub fn search<T: Tracer>(
    map: &ProgramMap,
    tracer: &mut T,
    input: &Input,
    selector: Box<dyn Selector>,
    config: &SearchConfig,
    memory: &Memory,
) -> Result<Searched, T::Error> {
    let start = Instant::now();
    let mut solver = config.solver(memory);
    let mut explorer = Explorer::new(map, selector, config, memory.traces.clone());
    let mut growth = Vec::new();
    let mut note = |explorer: &Explorer, ran: &Ran| {
        let view = explorer.view(map);
        if ran.n_new > 0 {
            growth.push(Growth {
                execution: view.history.n_executions(),
                elapsed: start.elapsed(),
                n_branches: view.history.n_covered(),
                generation: view.tree.generation(ran.path),
                input: Input::clone(&ran.input),
            });
        }
    };
    let first = explorer.begin(map, tracer, input)?;
    note(&explorer, &first);
    let is_over = |explorer: &Explorer| {
        explorer.view(map).history.n_executions() >= config.n_executions
            || config.wall.is_some_and(|wall| start.elapsed() >= wall)
    };
    while !is_over(&explorer) {
        let Some(advance) = explorer.advance(map, tracer, &mut solver)? else { break };
        if let Some(ran) = &advance.ran {
            note(&explorer, ran);
        }
    }
    let history = explorer.view(map).history;
    Ok(Searched {
        n_executions: history.n_executions(),
        coverage: history.coverage().clone(),
        growth,
        counts: *explorer.counts(),
        is_exhausted: explorer.is_exhausted(map),
    })
}
