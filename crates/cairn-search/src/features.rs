//! What a learned heuristic scores branches by: the 40 features of Cha, Hong, Lee and Oh, *Automatically Generating Search Heuristics for
//! Concolic Testing* (ICSE 2018), their Table 1.
//!
//! [`FEATURES`] lists them with where each one is read from; [`Features`] reads them all for a turn. Where the paper leaves open what it
//! means, the feature says what we mean.

mod table;

pub use self::table::FEATURES;

use crate::{
    contexts::Contexts,
    selector::{News, Question, View},
    turn::opposite,
};
use cairn_model::{
    FunctionId,
    distance::CallGraph,
    map::{Branch, Condition, Decision},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// A property that a turn has or has not.
#[derive(Clone, Copy)]
pub struct Feature {
    /// Its number in the paper, from 1.
    pub number: usize,
    /// What it says.
    pub text: &'static str,
    /// Where it is read from.
    pub source: Source,
    holds: fn(&Facts<'_>) -> bool,
}

impl fmt::Debug for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({:?})", self.number, self.text, self.source)
    }
}

/// Where a feature is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The program map: it never changes.
    Map,
    /// The path of the run.
    Trace,
    /// What runs have reached and what was asked.
    History,
}

/// For each feature, in the paper's order, whether a turn has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureVector(pub [bool; FEATURES.len()]);

/// Reads the features of turns. It is to be told everything that a selector is told.
#[derive(Debug, Default)]
pub struct Features {
    graph: Option<CallGraph>,
    /// Branches that can come next after one.
    following: BTreeMap<Branch, BTreeSet<Branch>>,
    /// Contexts that were turned away from, by length.
    contexts: [Contexts; LONGEST_CONTEXT],
    /// The path of the last run, and the turn that was decided otherwise for it.
    last: Option<Question>,
    /// How many branches each function has.
    sizes: Vec<usize>,
}

const LONGEST_CONTEXT: usize = 5;

impl Features {
    /// Learns what happened.
    pub fn observe(&mut self, view: &View<'_>, news: &News) {
        let News::Settled { question, path, .. } = news else { return };
        for (contexts, k) in self.contexts.iter_mut().zip(1..) {
            contexts.insert(Contexts::of(view, *question, k));
        }
        if let Some(path) = path {
            self.last = Some(Question { path: *path, index: question.index });
        }
    }

    /// The features of all turns of a path that depend on the input.
    pub fn of_path(&mut self, view: &View<'_>, path: crate::PathId) -> Vec<FeatureVector> {
        let graph = self.graph.get_or_insert_with(|| CallGraph::of(view.map));
        if self.sizes.is_empty() {
            self.sizes = vec![0; view.map.functions.len()];
            view.map.conditions.iter().for_each(|condition| self.sizes[condition.function.index()] += 2);
        }
        let taken = view.tree.path(path);
        let mut n_times: BTreeMap<Branch, usize> = BTreeMap::new();
        for branch in taken.iter().filter_map(|taken| view.tree.branch(*taken)) {
            *n_times.entry(branch).or_default() += 1;
            let other = opposite(branch);
            self.following.entry(other).or_insert_with(|| graph.following(view.map, other));
        }
        let of_path = OfPath {
            view,
            length: taken.len(),
            most: n_times.values().copied().max().unwrap_or(0),
            least: n_times.values().copied().min().unwrap_or(0),
            n_times,
            least_covered: self.least_covered(view),
            features: self,
        };
        (0..taken.len()).map(|index| of_path.read(Question { path, index })).collect()
    }

    /// The function with the most branches that nobody took.
    fn least_covered(&self, view: &View<'_>) -> Option<FunctionId> {
        let mut n_missing = vec![0usize; self.sizes.len()];
        for (id, condition) in view.map.conditions_with_ids() {
            let is_missing = |direction: &bool| {
                view.history.first_taken(Branch { condition: id, direction: *direction }).is_none()
            };
            n_missing[condition.function.index()] += [true, false].iter().filter(|d| is_missing(d)).count();
        }
        let most = n_missing.iter().copied().max().filter(|most| *most > 0)?;
        n_missing.iter().position(|n| *n == most).map(|index| FunctionId(index as u32))
    }

    /// Whether a function is among the largest `percent` of those that have branches.
    fn is_large(&self, function: FunctionId, percent: usize) -> bool {
        let n_larger = self.sizes.iter().filter(|size| **size > self.sizes[function.index()]).count();
        let n_all = self.sizes.iter().filter(|size| **size > 0).count();
        n_larger * 100 < n_all * percent
    }
}

/// What the features of one path have in common.
struct OfPath<'a> {
    view: &'a View<'a>,
    features: &'a Features,
    length: usize,
    n_times: BTreeMap<Branch, usize>,
    most: usize,
    least: usize,
    least_covered: Option<FunctionId>,
}

impl OfPath<'_> {
    fn read(&self, question: Question) -> FeatureVector {
        let branch = self.view.branch(question);
        let condition = branch.and_then(|branch| self.view.map.conditions.get(branch.condition.index()));
        let decision =
            condition.and_then(|condition| self.view.map.decisions.get(condition.decision.index()));
        let facts = Facts { path: self, question, branch, condition, decision };
        FeatureVector(FEATURES.map(|feature| (feature.holds)(&facts)))
    }
}

/// One turn, as features look at it. A turn that is no condition of the map has no static feature.
struct Facts<'a> {
    path: &'a OfPath<'a>,
    question: Question,
    branch: Option<Branch>,
    condition: Option<&'a Condition>,
    decision: Option<&'a Decision>,
}
