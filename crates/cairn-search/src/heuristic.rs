//! Heuristics by name.

use crate::{
    classic::{
        BreadthFirst, ContextGuided, ControlFlowDirected, DepthFirst, Generational, NearestUncovered,
        RandomBranch, RandomPath,
    },
    compose::Interleaved,
    selector::Selector,
};
use std::{fmt, str::FromStr};

/// The published heuristics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Heuristic {
    /// See [`DepthFirst`].
    DepthFirst,
    /// See [`BreadthFirst`].
    BreadthFirst,
    /// See [`RandomBranch`].
    RandomBranch,
    /// See [`RandomPath`].
    RandomPath,
    /// See [`ControlFlowDirected`].
    ControlFlowDirected,
    /// See [`ContextGuided`].
    ContextGuided,
    /// See [`Generational`].
    Generational,
    /// [`RandomPath`] and [`NearestUncovered`] in turn, as KLEE searches.
    Klee,
}

impl Heuristic {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::DepthFirst,
        Self::BreadthFirst,
        Self::RandomBranch,
        Self::RandomPath,
        Self::ControlFlowDirected,
        Self::ContextGuided,
        Self::Generational,
        Self::Klee,
    ];

    /// Its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::DepthFirst => "dfs",
            Self::BreadthFirst => "bfs",
            Self::RandomBranch => "random-branch",
            Self::RandomPath => "random-path",
            Self::ControlFlowDirected => "cfds",
            Self::ContextGuided => "cgs",
            Self::Generational => "generational",
            Self::Klee => "klee",
        }
    }

    /// A selector that knows nothing yet.
    pub fn selector(self) -> Box<dyn Selector> {
        match self {
            Self::DepthFirst => Box::new(DepthFirst::default()),
            Self::BreadthFirst => Box::new(BreadthFirst::default()),
            Self::RandomBranch => Box::new(RandomBranch::default()),
            Self::RandomPath => Box::new(RandomPath),
            Self::ControlFlowDirected => Box::new(ControlFlowDirected::default()),
            Self::ContextGuided => Box::new(ContextGuided::default()),
            Self::Generational => Box::new(Generational::default()),
            Self::Klee => {
                let nearest = Box::new(NearestUncovered::default());
                Box::new(Interleaved::new(vec![Box::new(RandomPath), nearest]))
            }
        }
    }

    /// Whether it looks at what runs decided without their input, too.
    pub fn sees_whole_paths(self) -> bool {
        self == Self::ContextGuided
    }
}

impl fmt::Display for Heuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no heuristic has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchHeuristic(pub String);

impl fmt::Display for NoSuchHeuristic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Heuristic::ALL.map(|heuristic| format!("`{heuristic}`")).join(", ");
        write!(f, "`{}` is no search heuristic; there are {names}", self.0)
    }
}

impl std::error::Error for NoSuchHeuristic {}

impl FromStr for Heuristic {
    type Err = NoSuchHeuristic;

    fn from_str(name: &str) -> Result<Self, NoSuchHeuristic> {
        let named = Self::ALL.into_iter().find(|heuristic| heuristic.name() == name);
        named.ok_or_else(|| NoSuchHeuristic(name.into()))
    }
}
