//! A search, question by question.

use super::{
    Change, SearchConfig,
    claims::{Answer, Claim, Share},
    memory::Traces,
    solved_before::SolvedBefore,
    traced::{Traced, Tracer},
};
use crate::{
    flip::{Demands, Flip, flip, flip_whole},
    verify::{Verification, leaves_at, verify},
};
use cairn_model::{Input, ProgramMap};
use cairn_search::{Heuristic, NodeId, Outcome, PathId, Question, Search, Selector, Settled, View};
use cairn_solver::{Budget, Solver, Strength};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// A search under way. The map is to be the same in every call.
pub struct Explorer {
    search: Search,
    /// By path.
    inputs: Vec<Arc<Input>>,
    /// Paths by the addresses of their inputs.
    known: HashMap<String, PathId>,
    traces: Traces,
    budget: Budget,
    at_first: Option<Budget>,
    /// Questions for which that was too little.
    hard: HashSet<NodeId>,
    /// So many of these may be asked with all of it, because there are no others.
    n_hard: u32,
    /// Whether it asked hard questions when it was out of others the last time.
    was_hard: bool,
    before: Option<SolvedBefore>,
    share: Option<Share>,
    /// Whether it asks what others have asked, because it has nothing of its own.
    follows: bool,
    change: Change,
    /// Whether questions wait that lead to branches which were taken.
    wants_new: bool,
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
    /// Questions that were put off because they are hard, whatever became of them later.
    pub n_put_off: u64,
    /// Of those to which none was found, those whose answer was an input that had been run, or that may not be made.
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

/// Hard questions that are asked one after the other. Each may take a second, and most have no answer.
const HARD_AT_ONCE: u32 = 8;

impl Explorer {
    /// A search that nobody has given an input.
    pub fn new(map: &ProgramMap, selector: Box<dyn Selector>, config: &SearchConfig, traces: Traces) -> Self {
        Self {
            search: Search::new(map, selector, config.bound, config.seed),
            inputs: Vec::new(),
            known: HashMap::new(),
            traces,
            budget: config.budget,
            at_first: config.at_first,
            hard: HashSet::new(),
            n_hard: 0,
            was_hard: false,
            before: config.before.clone(),
            share: config.share.clone(),
            follows: false,
            change: config.change.clone(),
            wants_new: false,
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
        Ok(self.ran(map, path, Arc::new(input.clone()), traced))
    }

    /// Notes what others have reached, by the counters that they hit. From now on questions wait that lead to branches which somebody has
    /// taken, until there are no others.
    pub fn hear(&mut self, map: &ProgramMap, counters: &[u8]) {
        self.search.hear(map, counters);
        self.wants_new = true;
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
        let claim = self.share.as_ref().map(|_| Claim::of(&self.search.view(map), question));
        if let Some(put_off) = self.put_off(map, question, claim) {
            return Ok(Some(self.unanswered(map, question, put_off)));
        }
        let from = self.traces.get(tracer, &self.inputs[question.path.0 as usize])?;
        let view = self.search.view(map);
        // A run that had to be made again may have gone elsewhere.
        let Some(step) = from.step(question.index, view.tree.condition(view.node(question))) else {
            self.counts.n_unknown += 1;
            return Ok(Some(self.unanswered(map, question, Settled::Unknown)));
        };
        let share = self.share.as_ref().zip(claim);
        let anothers = share.and_then(|(share, claim)| share.anothers_answer(claim, self.budget.timeout));
        let is_own = anothers.is_none();
        let node = view.node(question);
        let is_first = self.at_first.is_some() && !self.hard.contains(&node);
        let is_hard = is_own && self.at_first.is_some() && !is_first;
        self.n_hard = self.n_hard.saturating_sub(u32::from(is_hard));
        let answer = anothers.unwrap_or_else(|| self.ask(&from, step, solver, is_first));
        let found = match &answer {
            Answer::Found(input, is_certain) if self.path_of(input).is_none() => {
                Some((input.clone(), *is_certain, self.traces.get(tracer, input)?))
            }
            _ => None,
        };
        // Only now, so that nobody makes the same run.
        share.filter(|_| is_own).inspect(|(share, claim)| share.tell(*claim, &answer));
        let Some((input, is_certain, traced)) = found else {
            let aim = self.search.view(map).aim(question);
            self.before.iter().for_each(|before| before.was_in_vain(aim));
            let settled = match answer {
                Answer::Unsat => Settled::Unsat,
                Answer::Hard if is_own && is_first => {
                    self.counts.n_put_off += 1;
                    self.hard.insert(node);
                    return Ok(Some(self.unanswered(map, question, Settled::PutOff)));
                }
                _ => Settled::Unknown,
            };
            self.counts.n_unsat += u64::from(matches!(answer, Answer::Unsat));
            self.counts.n_unknown += u64::from(!matches!(answer, Answer::Unsat));
            self.counts.n_unfit += u64::from(matches!(answer, Answer::Unfit | Answer::Found(..)));
            return Ok(Some(self.unanswered(map, question, settled)));
        };
        let is_flipped = match is_certain {
            true => leaves_at(from.path(), step, traced.path()),
            false => verify(from.path(), step, traced.path()) == Verification::Flipped,
        };
        let settled = match is_flipped {
            true => Settled::Flipped(traced.run()),
            false => Settled::Diverged(traced.run()),
        };
        let outcome = settled.outcome();
        self.counts.n_flipped += u64::from(is_flipped);
        self.counts.n_diverged += u64::from(!is_flipped);
        let path = self.search.settle(map, question, settled).expect("there was a run");
        let ran = self.ran(map, path, input, traced);
        Ok(Some(Advance { question, outcome, ran: Some(ran) }))
    }

    /// Whether a question is not asked now.
    fn put_off(
        &mut self,
        map: &ProgramMap,
        question: Question,
        claim: Option<Claim>,
    ) -> Option<Settled<'static>> {
        let share = self.share.as_ref().zip(claim);
        if share.is_some_and(|(share, claim)| share.is_anothers(claim)) {
            // What another was asked was worth it, and costs nothing any more.
            return (!self.follows).then_some(Settled::Elsewhere);
        }
        let view = self.search.view(map);
        if self.hard.contains(&view.node(question)) {
            // It was worth asking before.
            return (self.n_hard == 0).then_some(Settled::PutOff);
        }
        let is_taken = |branch| view.history.first_taken(branch).is_some();
        if self.wants_new && view.aim(question).is_some_and(is_taken) {
            self.counts.n_left += 1;
            return Some(Settled::Left);
        }
        let is_worth = |before: &SolvedBefore| before.is_worth(&view, question);
        if !self.before.as_ref().is_none_or(is_worth) {
            self.counts.n_left += 1;
            return Some(Settled::Left);
        }
        let is_taken = share.is_none_or(|(share, claim)| share.take(claim));
        self.follows &= !is_taken;
        (!is_taken && !self.follows).then_some(Settled::Elsewhere)
    }

    /// Asks for an input that leaves a run's way at a step, at first without trying hard.
    fn ask(&self, from: &Traced, step: usize, solver: &mut dyn Solver, is_first: bool) -> Answer {
        let flipped = match self.at_first.filter(|_| is_first) {
            Some(budget) => flip_whole(from.path(), step, solver, budget),
            None => flip(from.path(), step, solver, self.budget),
        };
        match flipped {
            Flip::Unsat => Answer::Unsat,
            Flip::Solved(solved) if self.change.is_allowed(&solved.input, from.path().regions().input()) => {
                let is_certain = solved.strength == Strength::Full && solved.demands == Demands::All;
                Answer::Found(Arc::new(solved.input), is_certain)
            }
            Flip::Solved(_) => Answer::Unfit,
            Flip::Unknown(_) | Flip::Fixed(_) => Answer::Hard,
            _ => Answer::Unknown,
        }
    }

    /// Goes on with what other searches have asked, until there is something that they have not; else with questions that lead to what
    /// somebody has taken, if they waited; else with a few that are hard and with those that were left out in turn, twice as many of these
    /// that are alike. False if there is nothing.
    pub fn ask_more(&mut self, map: &ProgramMap, heuristic: Heuristic) -> bool {
        if self.reopen(map, heuristic, Outcome::Elsewhere) {
            self.follows = true;
            return true;
        }
        if std::mem::take(&mut self.wants_new) && self.reopen(map, heuristic, Outcome::Left) {
            return true;
        }
        if !self.was_hard && self.ask_hard(map, heuristic) {
            return true;
        }
        self.was_hard = false;
        if self.reopen(map, heuristic, Outcome::Left) {
            // Only what was left out is a reason for patience, which all searches share.
            self.before.iter().for_each(SolvedBefore::be_patient);
            return true;
        }
        self.ask_hard(map, heuristic)
    }

    fn ask_hard(&mut self, map: &ProgramMap, heuristic: Heuristic) -> bool {
        self.was_hard = self.reopen(map, heuristic, Outcome::PutOff);
        self.n_hard = if self.was_hard { HARD_AT_ONCE } else { 0 };
        self.was_hard
    }

    fn reopen(&mut self, map: &ProgramMap, heuristic: Heuristic, outcome: Outcome) -> bool {
        self.search.reopen(map, heuristic.selector(), outcome) > 0
    }

    fn unanswered(&mut self, map: &ProgramMap, question: Question, settled: Settled<'_>) -> Advance {
        let outcome = settled.outcome();
        self.search.settle(map, question, settled);
        Advance { question, outcome, ran: None }
    }

    fn ran(&mut self, map: &ProgramMap, path: PathId, input: Arc<Input>, traced: Arc<Traced>) -> Ran {
        self.is_whole &= traced.is_whole();
        // On another way there are other questions, some of them easy.
        self.n_hard = 0;
        self.counts.n_mistakes += traced.path().n_mistakes() as u64;
        self.known.insert(input.address(), path);
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
