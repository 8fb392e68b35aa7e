use crate::{
    nearness::Nearness,
    selector::{Question, Selector, View},
    tree::NodeId,
};
use cairn_model::map::Branch;
use std::collections::BTreeMap;

/// Any turn of any path, the likelier the nearer its other way leads to a branch that nobody took: the coverage-optimized search of
/// Cadar, Dunbar and Engler, *KLEE* (OSDI 2008).
///
/// A turn at distance `d` weighs `1 / (d + 1)²`; one from which no way is known weighs as if it were far away.
#[derive(Debug, Default)]
pub struct NearestUncovered {
    nearness: Nearness,
    /// Turns by what they may lead to.
    waiting: BTreeMap<Option<Branch>, Vec<NodeId>>,
    n_known: usize,
}

/// The distance of what no way is known to.
const FAR: u32 = 1_000;

impl Selector for NearestUncovered {
    fn choose(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Question> {
        for node in (self.n_known..view.tree.n_nodes()).map(|index| NodeId(index as u32)) {
            self.waiting.entry(view.aim(view.tree.question(node))).or_default().push(node);
        }
        self.n_known = view.tree.n_nodes();
        loop {
            let aim = self.choose_aim(view, random)?;
            let nodes = self.waiting.get_mut(&aim)?;
            let index = random.usize(..nodes.len());
            if view.may_ask(nodes[index]) {
                return Some(view.tree.question(nodes[index]));
            }
            // Asked before, or never to be.
            nodes.swap_remove(index);
            if nodes.is_empty() {
                self.waiting.remove(&aim);
            }
        }
    }
}

impl NearestUncovered {
    fn choose_aim(&mut self, view: &View<'_>, random: &mut fastrand::Rng) -> Option<Option<Branch>> {
        let mut weights: Vec<(Option<Branch>, f64)> = Vec::with_capacity(self.waiting.len());
        for (aim, nodes) in &self.waiting {
            let distance = aim.and_then(|aim| self.nearness.of(view, aim)).unwrap_or(FAR).min(FAR);
            let weight = 1.0 / f64::from(distance + 1).powi(2);
            weights.push((*aim, weight * nodes.len() as f64));
        }
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut left = random.f64() * sum;
        for (aim, weight) in &weights {
            left -= weight;
            if left < 0.0 {
                return Some(*aim);
            }
        }
        // Rounding may leave a little.
        weights.last().map(|(aim, _)| *aim)
    }
}
