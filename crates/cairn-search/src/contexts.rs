//! What runs did just before a turn.

use crate::selector::{Question, View};
use cairn_model::map::Branch;
use std::collections::BTreeSet;

/// Contexts that were met: a branch and the `k` branches before it, the nearest first.
///
/// All branches of the program count, whether they depend on the input or not, except those that dominate the branch: they are always
/// there and tell nothing. After Seo and Kim, *How We Get There: A Context-Guided Search Strategy in Concolic Testing* (FSE 2014).
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    known: BTreeSet<Vec<Option<Branch>>>,
}

impl Contexts {
    /// The context of the turn that a question is about.
    pub fn of(view: &View<'_>, question: Question, k: usize) -> Vec<Option<Branch>> {
        let branch = view.branch(question);
        let condition = branch.and_then(|branch| view.map.conditions.get(branch.condition.index()));
        let dominators: &[Branch] = condition.map_or(&[], |condition| &condition.features.dominated_by);
        let before = view.tree.branches_before(view.node(question));
        let tells = before.filter(|branch| !dominators.contains(branch)).map(Some);
        [branch].into_iter().chain(tells.take(k)).collect()
    }

    /// Whether a context was met.
    pub fn contains(&self, context: &[Option<Branch>]) -> bool {
        self.known.contains(context)
    }

    /// Notes a context; false if it was met before.
    pub fn insert(&mut self, context: Vec<Option<Branch>>) -> bool {
        self.known.insert(context)
    }
}
