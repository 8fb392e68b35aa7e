//! The trait, and what a selector sees.

use crate::{
    history::History,
    search::Outcome,
    tree::{NodeId, PathId, Tree},
    turn::opposite,
};
use cairn_model::{ProgramMap, map::Branch};

/// Asks for an input that takes the way of a path up to a turn, and decides otherwise there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Question {
    /// The path.
    pub path: PathId,
    /// The how manyth turn of the path that depends on the input, from 0.
    pub index: usize,
}

/// What a selector sees of a search.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// What is known about the program.
    pub map: &'a ProgramMap,
    /// The ways of all runs.
    pub tree: &'a Tree,
    /// What was reached when, and what was asked.
    pub history: &'a History,
    /// Turns before this one are left as they are.
    pub first_index: usize,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A run was added that no question led to.
    Given(PathId),
    /// A question was settled.
    Settled {
        /// Which.
        question: Question,
        /// How.
        outcome: Outcome,
        /// The run that it led to, if there was one.
        path: Option<PathId>,
    },
}

/// Decides what to ask next.
pub trait Selector: Send {
    /// The question to ask next; `None` if it would ask none of those that are left. What was asked is not asked again.
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question>;

    /// Tells it what happened: every run and every question of the search, its own or another's.
    fn observe(&mut self, _view: &View<'_>, _news: &News) {}
}

impl<S: Selector + ?Sized> Selector for Box<S> {
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question> {
        (**self).choose(view, random)
    }

    fn observe(&mut self, view: &View<'_>, news: &News) {
        (**self).observe(view, news);
    }
}

impl View<'_> {
    /// Whether a node's flip may be asked for.
    pub fn may_ask(&self, node: NodeId) -> bool {
        self.tree.is_open(node) && self.tree.depth(node) >= self.first_index
    }

    /// The turns of a path whose flips may be asked for, in order.
    pub fn open_turns(&self, path: PathId) -> impl DoubleEndedIterator<Item = Question> {
        let taken = self.tree.path(path);
        let first = self.first_index.min(taken.len());
        (first..taken.len())
            .filter(|index| self.tree.is_open(taken[*index].node))
            .map(move |index| Question { path, index })
    }

    /// The node that a question is about.
    pub fn node(&self, question: Question) -> NodeId {
        self.tree.path(question.path)[question.index].node
    }

    /// The branch of the map that a question turns away from.
    pub fn branch(&self, question: Question) -> Option<Branch> {
        self.tree.branch(self.tree.path(question.path)[question.index])
    }

    /// The branch of the map that a question may lead to: the other way out of its condition. Where it is about no condition of the
    /// map, that of the next one on the path: that is what it may decide.
    pub fn aim(&self, question: Question) -> Option<Branch> {
        let after = self.tree.path(question.path).get(question.index..)?;
        after.iter().take(FARTHEST_AIM).find_map(|taken| self.tree.branch(*taken)).map(opposite)
    }
}

/// How many turns ahead something may be that a turn without a name decides.
const FARTHEST_AIM: usize = 64;

impl News {
    /// The run that was added, if one was.
    pub fn path(&self) -> Option<PathId> {
        match self {
            Self::Given(path) => Some(*path),
            Self::Settled { path, .. } => *path,
        }
    }
}
