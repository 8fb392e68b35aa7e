use crate::{
    selector::{Question, Selector, View},
    tree::NodeId,
};
use std::{cmp::Reverse, collections::BinaryHeap};

/// The turn nearest to the root of the tree, of several the one that was seen first.
#[derive(Debug, Default)]
pub struct BreadthFirst {
    waiting: BinaryHeap<Reverse<(usize, NodeId)>>,
    n_known: usize,
}

impl Selector for BreadthFirst {
    fn choose(&mut self, view: &View<'_>, _random: &mut fastrand::Rng) -> Option<Question> {
        let new = (self.n_known..view.tree.n_nodes()).map(|index| NodeId(index as u32));
        self.waiting.extend(new.map(|node| Reverse((view.tree.depth(node), node))));
        self.n_known = view.tree.n_nodes();
        loop {
            let Reverse((_, node)) = *self.waiting.peek()?;
            if view.may_ask(node) {
                return Some(view.tree.question(node));
            }
            self.waiting.pop();
        }
    }
}
