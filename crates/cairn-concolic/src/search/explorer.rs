//! A search, question by question.

use super::{
    Change, SearchConfig,
    memory::Traces,
    solved_before::SolvedBefore,
    traced::{Traced, Tracer},
};
use crate::{
    flip::{Demands, Flip, flip},
    verify::{Verification, leaves_at, verify},
};
use cairn_model::{Input, ProgramMap};
use cairn_search::{Outcome, PathId, Question, Search, Selector, Settled, View};
use cairn_solver::{Budget, Solver, Strength};
use std::{collections::HashMap, sync::Arc};

/// A search under way. The map is to be the same in every call.
pub struct Explorer {
    search: Search,
    /// By path.
    inputs: Vec<Arc<Input>>,
    /// Paths by the addresses of their inputs.
    known: HashMap<String, PathId>,
    traces: Traces,
    budget: Budget,
    before: Option<SolvedBefore>,
    change: Change,
    counts: Counts,
    /// Whether all runs could be followed in every respect.
    is_whole: bool,
}

/// What became of questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs that decided otherwise, as they should.
    pub n_flipped: u64,
    /// Runs that went elsewhere.
    pub n_diverged: u64,
    /// Questions that have no answer.
    pub n_unsat: u64,
    /// Questions to which none was found.
    pub n_unknown: u64,
    /// Of these, those whose answer was an input that had been run, or that may not be made.
    pub n_unfit: u64,
    /// Questions that were left out because others like them were asked.
    pub n_left: u64,
    /// Expressions that had another value than the run had: mistakes of ours.
    pub n_mistakes: u64,
}

/// A question and what came of it.
#[derive(Clone, Debug)]
pub struct Advance {
    /// What was asked.
    pub question: Question,
    /// What came of it.
    pub outcome: Outcome,
    /// The run that was made, if one was.
    pub ran: Option<Ran>,
}

/// A run that was made.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its path.
    pub path: PathId,
    /// Its input.
    pub input: Arc<Input>,
    /// How many branches it took that none took before.
    pub n_new: usize,
    /// What it was.
    pub traced: Arc<Traced>,
}

impl Explorer {
    /// A search that nobody has given an input.
    pub fn new(map: &ProgramMap, selector: Box<dyn Selector>, config: &SearchConfig, traces: Traces) -> Self {
        Self {
            search: Search::new(map, selector, config.bound, config.seed),
            inputs: Vec::new(),
            known: HashMap::new(),
            traces,
            budget: config.budget,
            before: config.before.clone(),
            change: config.change.clone(),
            counts: Counts::default(),
            is_whole: true,
        }
    }

    /// Runs an input to go on from. There may be several.
    pub fn begin<T: Tracer>(
        &mut self,
        map: &ProgramMap,
        tracer: &mut T,
        input: &Input,
    ) -> Result<Ran, T::Error> {
        let traced = self.traces.get(tracer, input)?;
        let path = self.search.begin(map, traced.run());
        Ok(self.ran(map, path, input.clone(), traced))
    }

    /// The path of an input, if it was run in this search.
    pub fn path_of(&self, input: &Input) -> Option<PathId> {
        self.known.get(&input.address()).copied()
    }

    /// Asks one question, and runs the answer if there is one; `None` if the selector has nothing to ask.
    pub fn advance<T: Tracer>(
        &mut self,
        map: &ProgramMap,
        tracer: &mut T,
        solver: &mut dyn Solver,
    ) -> Result<Option<Advance>, T::Error> {
        let Some(question) = self.search.choose(map) else { return Ok(None) };
        if let Some(before) = &self.before
            && !before.is_worth(&self.search.view(map), question)
        {
            self.counts.n_left += 1;
            return Ok(Some(self.unanswered(map, question, Settled::Left)));
        }
        let from = self.traces.get(tracer, &self.inputs[question.path.0 as usize])?;
        let view = self.search.view(map);
        // A run that had to be made again may have gone elsewhere.
        let Some(step) = from.step(question.index, view.tree.condition(view.node(question))) else {
            self.counts.n_unknown += 1;
            return Ok(Some(self.unanswered(map, question, Settled::Unknown)));
        };
        let solved = match flip(from.path(), step, solver, self.budget) {
            Flip::Solved(solved) => solved,
            Flip::Unsat => {
                self.counts.n_unsat += 1;
                return Ok(Some(self.unanswered(map, question, Settled::Unsat)));
            }
            _ => {
                self.counts.n_unknown += 1;
                return Ok(Some(self.unanswered(map, question, Settled::Unknown)));
            }
        };
        let is_allowed = self.change.is_allowed(&solved.input, &self.inputs[question.path.0 as usize]);
        if !is_allowed || self.path_of(&solved.input).is_some() {
            self.counts.n_unknown += 1;
            self.counts.n_unfit += 1;
            return Ok(Some(self.unanswered(map, question, Settled::Unknown)));
        }
        let traced = self.traces.get(tracer, &solved.input)?;
        let is_flipped = match (solved.strength, solved.demands) {
            (Strength::Full, Demands::All) => leaves_at(from.path(), step, traced.path()),
            _ => verify(from.path(), step, traced.path()) == Verification::Flipped,
        };
        let settled = match is_flipped {
            true => Settled::Flipped(traced.run()),
            false => Settled::Diverged(traced.run()),
        };
        let outcome = settled.outcome();
        self.counts.n_flipped += u64::from(is_flipped);
        self.counts.n_diverged += u64::from(!is_flipped);
        let path = self.search.settle(map, question, settled).expect("there was a run");
        let ran = self.ran(map, path, solved.input, traced);
        Ok(Some(Advance { question, outcome, ran: Some(ran) }))
    }

    /// Goes on with the questions that were left out, twice as many of those that are alike; false if there are none.
    pub fn ask_more(&mut self, map: &ProgramMap, selector: Box<dyn Selector>) -> bool {
        let is_more = self.search.reopen(map, selector) > 0;
        // Only what was left out is a reason for patience, which all searches share.
        if let Some(before) = self.before.as_ref().filter(|_| is_more) {
            before.be_patient();
        }
        is_more
    }

    fn unanswered(&mut self, map: &ProgramMap, question: Question, settled: Settled<'_>) -> Advance {
        let outcome = settled.outcome();
        self.search.settle(map, question, settled);
        Advance { question, outcome, ran: None }
    }

    fn ran(&mut self, map: &ProgramMap, path: PathId, input: Input, traced: Arc<Traced>) -> Ran {
        self.is_whole &= traced.is_whole();
        self.counts.n_mistakes += traced.path().n_mistakes() as u64;
        self.known.insert(input.address(), path);
        let input = Arc::new(input);
        self.inputs.push(input.clone());
        debug_assert_eq!(self.inputs.len(), path.0 as usize + 1, "paths are numbered in order");
        Ran { path, input, n_new: self.view(map).history.new_branches().len(), traced }
    }

    /// What is known so far.
    pub fn view<'a>(&'a self, map: &'a ProgramMap) -> View<'a> {
        self.search.view(map)
    }

    /// What became of questions.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether every flip within the bound was executed or proved impossible, on paths of which everything could be followed.
    pub fn is_exhausted(&self, map: &ProgramMap) -> bool {
        self.is_whole && self.view(map).tree.is_exhausted()
    }
}
