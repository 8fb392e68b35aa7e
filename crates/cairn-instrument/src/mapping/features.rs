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
    let shown = |from: usize, to: usize| {
        let mut branches = map.blocks[blocks.start as usize + from]
            .successors
            .iter()
            .filter(|edge| local(edge.to.0) == to)
            .map(|edge| edge.shows);
        match (branches.next(), branches.next()) {
            (Some(shows), None) => shows,
            _ => None,
        }
    };
    // What dominates a block is what dominates its dominator, and the edge into it if there is only one.
    let mut dominated_by: Vec<Vec<Branch>> = vec![Vec::new(); successors.len()];
    for node in shape.dominators_first() {
        let Some(above) = shape.dominator[*node] else { continue };
        let mut branches = dominated_by[above].clone();
        branches.extend(shape.entered_from(*node).and_then(|from| shown(from, *node)));
        dominated_by[*node] = branches;
    }
    let mut features = Vec::new();
    for index in conditions.clone() {
        let block = local(map.conditions[index].block.0);
        let stays_in_loop = shape.innermost_loop(block).and_then(|innermost| {
            let edges = &map.blocks[blocks.start as usize + block].successors;
            let mut staying = edges.iter().filter(|edge| {
                edge.shows.is_some_and(|branch| branch.condition.index() == index)
                    && innermost.nodes.contains(&local(edge.to.0))
            });
            match (staying.next(), staying.next()) {
                (Some(edge), None) => edge.shows.map(|branch| branch.direction),
                _ => None,
            }
        });
        features.push((shape.loop_depth(block) as u32, stays_in_loop, dominated_by[block].clone()));
    }
    for (index, (loop_depth, stays_in_loop, dominated_by)) in conditions.zip(features) {
        let features = &mut map.conditions[index].features;
        *features = ConditionFeatures {
            loop_depth,
            nesting_depth: dominated_by.len() as u32,
            stays_in_loop: stays_in_loop.or(features.stays_in_loop),
            dominated_by,
            ..std::mem::take(features)
        };
    }
}
