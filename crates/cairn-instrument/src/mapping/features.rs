//! Static features of conditions that only the control flow knows.

use crate::shape::Shape;
use cairn_model::{
    ProgramMap,
    map::{Branch, ConditionFeatures},
};
use std::ops::Range;

/// Fills in loops, nesting and dominating branches for the conditions of one function.
pub fn fill(map: &mut ProgramMap, blocks: Range<u32>, conditions: Range<usize>) {
    let local = |id: u32| (id - blocks.start) as usize;
    let successors: Vec<Vec<usize>> = blocks
        .clone()
        .map(|block| map.blocks[block as usize].successors.iter().map(|edge| local(edge.to.0)).collect())
        .collect();
    let shape = Shape::of(&successors);
    let shown: Vec<(usize, usize, Branch)> = blocks
        .clone()
        .flat_map(|block| {
            let edges = &map.blocks[block as usize].successors;
            edges.iter().filter_map(move |edge| Some((local(block), local(edge.to.0), edge.shows?)))
        })
        .collect();
    for index in conditions {
        let block = local(map.conditions[index].block.0);
        let mut dominated_by: Vec<(usize, Branch)> = shown
            .iter()
            .filter(|(from, to, _)| *from != block && shape.edge_dominates(*from, *to, block))
            .map(|(from, _, branch)| (*from, *branch))
            .collect();
        dominated_by.sort_by_key(|(from, branch)| (depth(&shape, *from), *branch));
        let stays_in_loop = shape.innermost_loop(block).and_then(|innermost| {
            let mut staying = shown.iter().filter(|(from, to, branch)| {
                *from == block && branch.condition.index() == index && innermost.nodes.contains(to)
            });
            match (staying.next(), staying.next()) {
                (Some((_, _, branch)), None) => Some(branch.direction),
                _ => None,
            }
        });
        let features = &mut map.conditions[index].features;
        *features = ConditionFeatures {
            loop_depth: shape.loop_depth(block) as u32,
            nesting_depth: dominated_by.len() as u32,
            stays_in_loop,
            dominated_by: dominated_by.into_iter().map(|(_, branch)| branch).collect(),
            ..std::mem::take(features)
        };
    }
}

fn depth(shape: &Shape, node: usize) -> usize {
    std::iter::successors(Some(node), |node| shape.dominator[*node]).count()
}
