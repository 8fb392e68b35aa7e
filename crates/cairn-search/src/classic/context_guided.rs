use crate::{
    contexts::Contexts,
    selector::{Question, Selector, View},
    tree::NodeId,
};
use std::collections::VecDeque;

/// Level by level through the tree, leaving out turns in a context that was met: the context-guided search of Seo and Kim, *How We
/// Get There: A Context-Guided Search Strategy in Concolic Testing* (FSE 2014).
///
/// Within a level turns come in any order. When the deepest level is done it begins at the first again, with contexts that are one branch
/// longer, up to the longest; turns that were left out are asked about then, if they differ. It ends after a round that found no turn
/// that was not there before.
#[derive(Debug)]
pub struct ContextGuided {
    longest: usize,
    k: usize,
    depth: usize,
    /// How many turns there were when the round began.
    n_before: usize,
    /// Turns of this level that were not looked at.
    level: VecDeque<NodeId>,
    contexts: Contexts,
    /// Turns by level.
    by_depth: Vec<Vec<NodeId>>,
    n_known: usize,
}

impl ContextGuided {
    /// With contexts of 1 branch up to `longest`.
    pub fn new(longest: usize) -> Self {
        Self {
            longest,
            k: 1,
            depth: 0,
            n_before: 0,
            level: VecDeque::new(),
            contexts: Contexts::default(),
            by_depth: Vec::new(),
            n_known: 0,
        }
    }

    fn learn(&mut self, view: &View<'_>) {
        for node in (self.n_known..view.tree.n_nodes()).map(|index| NodeId(index as u32)) {
            let depth = view.tree.depth(node);
            if self.by_depth.len() <= depth {
                self.by_depth.resize(depth + 1, Vec::new());
            }
            self.by_depth[depth].push(node);
        }
        self.n_known = view.tree.n_nodes();
    }

    /// Gathers the turns of the next level that has any; false if there is none left.
    fn next_level(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> bool {
        loop {
            while let Some(nodes) = self.by_depth.get_mut(self.depth) {
                self.depth += 1;
                nodes.retain(|node| view.may_ask(*node));
                if !nodes.is_empty() {
                    let mut level = nodes.clone();
                    random.shuffle(&mut level);
                    self.level = level.into();
                    return true;
                }
            }
            if self.k == self.longest && self.n_before == self.n_known {
                return false;
            }
            self.k = (self.k + 1).min(self.longest);
            self.depth = 0;
            self.n_before = self.n_known;
        }
    }
}

impl Default for ContextGuided {
    /// Up to 5, as long as those that ParaDySE's features look at.
    fn default() -> Self {
        Self::new(5)
    }
}

impl Selector for ContextGuided {
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question> {
        self.learn(view);
        loop {
            let Some(node) = self.level.pop_front() else {
                match self.next_level(view, random) {
                    true => continue,
                    false => return None,
                }
            };
            let question = view.tree.question(node);
            if view.may_ask(node) && self.contexts.insert(Contexts::of(view, question, self.k)) {
                return Some(question);
            }
        }
    }
}
