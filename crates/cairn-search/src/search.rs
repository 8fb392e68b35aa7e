//! A search: runs come in, questions go out, and everybody is told what came of them.

use crate::{
    history::History,
    selector::{News, Question, Selector, View},
    tree::{FlipState, PathId, Tree},
    turn::Turn,
};
use cairn_model::ProgramMap;

/// One search through the ways of a program. It makes no run and asks no solver: whoever uses it does. The map is to be the same in
/// every call.
pub struct Search {
    tree: Tree,
    history: History,
    selector: Box<dyn Selector>,
    random: fastrand::Rng,
    bound: usize,
}

/// What a run did.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What it decided, in order.
    pub turns: &'a [Turn],
    /// The counters that it left.
    pub counters: &'a [u8],
}

/// What came of a question.
#[derive(Clone, Copy, Debug)]
pub enum Settled<'a> {
    /// No input takes the way and decides otherwise.
    Unsat,
    /// No input was found.
    Unknown,
    /// Nobody was asked: something like it was asked often enough.
    Left,
    /// Nobody was asked: another search has the question.
    Elsewhere,
    /// No input was found, but it was not tried hard.
    PutOff,
    /// An input was found and run: it took the way and decided otherwise.
    Flipped(Run<'a>),
    /// An input was found and run, and went elsewhere.
    Diverged(Run<'a>),
}

/// What came of a question, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// A run decided otherwise.
    Flipped,
    /// That is impossible.
    Unsat,
    /// Nobody knows.
    Unknown,
    /// Nobody was asked, because something like it was.
    Left,
    /// Nobody was asked, because another search asks it.
    Elsewhere,
    /// Nobody knows yet: it is to be asked again, with more effort.
    PutOff,
    /// The run went elsewhere.
    Diverged,
}

impl Outcome {
    /// Whether somebody was asked, and is not to be asked again.
    pub fn is_asked(self) -> bool {
        !matches!(self, Self::Left | Self::Elsewhere | Self::PutOff)
    }
}

impl<'a> Settled<'a> {
    /// In a word.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Unsat => Outcome::Unsat,
            Self::Unknown => Outcome::Unknown,
            Self::Left => Outcome::Left,
            Self::Elsewhere => Outcome::Elsewhere,
            Self::PutOff => Outcome::PutOff,
            Self::Flipped(_) => Outcome::Flipped,
            Self::Diverged(_) => Outcome::Diverged,
        }
    }

    fn run(&self) -> Option<Run<'a>> {
        match self {
            Self::Flipped(run) | Self::Diverged(run) => Some(*run),
            Self::Unsat | Self::Unknown | Self::Left | Self::Elsewhere | Self::PutOff => None,
        }
    }
}

impl Search {
    /// A search that looks at the first `bound` turns of each path.
    pub fn new(map: &ProgramMap, selector: Box<dyn Selector>, bound: usize, seed: u64) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        Self { tree: Tree::default(), history: History::new(map), selector, random, bound }
    }

    /// Adds a run that no question led to.
    pub fn begin(&mut self, map: &ProgramMap, run: Run<'_>) -> PathId {
        let path = self.add(map, run, None);
        self.tell(map, &News::Given(path));
        path
    }

    /// Notes what others have reached, by the counters that they hit: it is not new any more.
    pub fn hear(&mut self, map: &ProgramMap, counters: &[u8]) {
        self.history.hear(map, counters);
    }

    /// The question to ask next; `None` if the selector has none.
    pub fn choose(&mut self, map: &ProgramMap) -> Option<Question> {
        let Self { tree, history, selector, random, .. } = self;
        selector.choose(&View { map, tree, history, first_index: 0 }, random)
    }

    /// Notes what came of a question; returns the run's path, if there was a run.
    pub fn settle(&mut self, map: &ProgramMap, question: Question, settled: Settled<'_>) -> Option<PathId> {
        let outcome = settled.outcome();
        let view = self.view(map);
        let (node, branch) = (view.node(question), view.branch(question));
        let path = settled.run().map(|run| self.add(map, run, Some(question)));
        // A run that decided otherwise has closed it already, unless library functions took another way to it.
        self.tree.close(node, FlipState::Asked(outcome));
        if let Some(branch) = branch.filter(|_| outcome.is_asked()) {
            self.history.ask(branch, path.is_some(), outcome != Outcome::Flipped);
        }
        self.tell(map, &News::Settled { question, outcome, path });
        path
    }

    /// Opens the questions again that were settled by `outcome`, for a new selector that is told of all runs; returns how many there are.
    pub fn reopen(&mut self, map: &ProgramMap, selector: Box<dyn Selector>, outcome: Outcome) -> usize {
        let n_opened = self.tree.reopen(outcome);
        self.selector = selector;
        for path in 0..self.tree.n_paths() {
            self.tell(map, &News::Given(PathId(path as u32)));
        }
        n_opened
    }

    /// What is known so far.
    pub fn view<'a>(&'a self, map: &'a ProgramMap) -> View<'a> {
        View { map, tree: &self.tree, history: &self.history, first_index: 0 }
    }

    fn add(&mut self, map: &ProgramMap, run: Run<'_>, made_from: Option<Question>) -> PathId {
        self.history.execute(map, run.counters);
        self.tree.add(run.turns, self.bound, made_from)
    }

    fn tell(&mut self, map: &ProgramMap, news: &News) {
        let Self { tree, history, selector, .. } = self;
        selector.observe(&View { map, tree, history, first_index: 0 }, news);
    }
}
