//! How far it is from a branch to the nearest one that nobody took.

use crate::selector::View;
use cairn_model::{
    BlockId, ProgramMap,
    distance::{CallGraph, Distances},
    map::Branch,
};

/// Distances to what is not covered, counted in branches. Made anew when more is covered.
#[derive(Debug, Default)]
pub(crate) struct Nearness {
    graph: Option<CallGraph>,
    distances: Option<Distances>,
    n_covered: usize,
}

impl Nearness {
    /// The fewest branches to come from `branch` to one that nobody took: 0 if nobody took it itself; `None` if there is no way.
    pub(crate) fn of(&mut self, view: &View<'_>, branch: Branch) -> Option<u32> {
        if view.history.first_taken(branch).is_none() {
            return Some(0);
        }
        self.renew(view);
        let distances = self.distances.as_ref()?;
        let nearest = starts(view.map, branch).into_iter().filter_map(|block| distances.from(block)).min();
        nearest.map(|distance| distance.saturating_add(1))
    }

    fn renew(&mut self, view: &View<'_>) {
        if self.distances.is_some() && self.n_covered == view.history.n_covered() {
            return;
        }
        self.n_covered = view.history.n_covered();
        let is_missing =
            |direction, condition| view.history.first_taken(Branch { condition, direction }).is_none();
        let targets: Vec<BlockId> = view
            .map
            .conditions_with_ids()
            .filter(|(id, _)| is_missing(true, *id) || is_missing(false, *id))
            .map(|(_, condition)| condition.block)
            .collect();
        let graph = self.graph.get_or_insert_with(|| CallGraph::of(view.map));
        self.distances = Some(graph.distances_to_any(view.map, &targets));
    }
}

/// The blocks in which a program may go on after a branch.
fn starts(map: &ProgramMap, branch: Branch) -> Vec<BlockId> {
    let Some(condition) = map.conditions.get(branch.condition.index()) else { return Vec::new() };
    let edges = &map.blocks[condition.block.index()].successors;
    match edges.iter().find(|edge| edge.shows == Some(branch)) {
        Some(edge) => vec![edge.to],
        // A value chooses no way.
        None => edges.iter().map(|edge| edge.to).collect(),
    }
}
