//! How far it is, counted in branches, from anywhere in a program to a place in it.
//!
//! A way may go down into calls and come back, and may leave the current function through its return into any
//! caller; while going down it never returns into a function it did not come from. Each conditional edge costs
//! one branch.

use crate::{
    ids::{BlockId, ConditionId},
    map::{Block, Branch, ProgramMap},
};
use std::collections::{BTreeSet, HashSet};

const FAR: u32 = u32::MAX;

/// The calls of a program, prepared once for many questions.
#[derive(Debug)]
pub struct CallGraph {
    /// By function: the blocks that call it.
    callers: Vec<Vec<BlockId>>,
    /// By function: the fewest branches from its entry to its return.
    through: Vec<u32>,
    /// By block: the conditions in it or at its end.
    conditions: Vec<Vec<ConditionId>>,
}

/// Distances from the start of every block to a target, or to the nearest of several.
#[derive(Debug)]
pub struct Distances {
    to_target: Vec<u32>,
}

impl Distances {
    /// The fewest branches from the start of `block` to the target; `None` if there is no way.
    pub fn from(&self, block: BlockId) -> Option<u32> {
        self.to_target.get(block.index()).copied().filter(|distance| *distance != FAR)
    }
}

impl CallGraph {
    /// Collects callers and finds out how many branches each function costs to pass.
    pub fn of(map: &ProgramMap) -> Self {
        let mut callers = vec![Vec::new(); map.functions.len()];
        for (index, block) in map.blocks.iter().enumerate() {
            for callee in block.calls.iter().flat_map(|call| &call.callees) {
                callers[callee.index()].push(BlockId(index as u32));
            }
        }
        let mut conditions = vec![Vec::new(); map.blocks.len()];
        for (id, condition) in map.conditions_with_ids() {
            conditions[condition.block.index()].push(id);
        }
        let mut graph = Self { callers, through: vec![FAR; map.functions.len()], conditions };
        let mut to_return = vec![FAR; map.blocks.len()];
        // Passing a function may need passing others, so repeat until nothing gets cheaper.
        loop {
            relax(map, &mut to_return, |to_return, _, block| {
                let onward = if block.returns { 0 } else { nearest_successor(block, to_return) };
                onward.saturating_add(graph.pass_calls(block))
            });
            let entries = map.functions.iter().map(|function| to_return[function.entry().index()]);
            let through: Vec<u32> = entries.collect();
            if through == graph.through {
                return graph;
            }
            graph.through = through;
        }
    }

    /// Distances to the start of `target` from everywhere.
    pub fn distances_to(&self, map: &ProgramMap, target: BlockId) -> Distances {
        self.distances_to_any(map, &[target])
    }

    /// Distances to the start of the nearest of `targets` from everywhere.
    pub fn distances_to_any(&self, map: &ProgramMap, targets: &[BlockId]) -> Distances {
        let mut down = vec![FAR; map.blocks.len()];
        targets.iter().for_each(|target| down[target.index()] = 0);
        relax(map, &mut down, |down, _, block| {
            let into_calls = block
                .calls
                .iter()
                .flat_map(|call| &call.callees)
                .map(|callee| down[map.functions[callee.index()].entry().index()])
                .min()
                .unwrap_or(FAR);
            let past_calls = nearest_successor(block, down).saturating_add(self.pass_calls(block));
            into_calls.min(past_calls)
        });
        let function_of = map.function_of_blocks();
        let mut to_target = down;
        relax(map, &mut to_target, |to_target, index, block| {
            let onward = if block.returns {
                let function = function_of[index];
                let callers = self.callers[function.index()].iter();
                callers
                    .map(|caller| nearest_successor(&map.blocks[caller.index()], to_target))
                    .min()
                    .unwrap_or(FAR)
            } else {
                nearest_successor(block, to_target)
            };
            onward.saturating_add(self.pass_calls(block))
        });
        Distances { to_target }
    }

    /// The branches that can be the next one after `branch`, through calls and returns.
    pub fn following(&self, map: &ProgramMap, branch: Branch) -> BTreeSet<Branch> {
        let block = &map.blocks[map.conditions[branch.condition.index()].block.index()];
        let starts: Vec<BlockId> = match block.successors.iter().find(|edge| edge.shows == Some(branch)) {
            Some(edge) => vec![edge.to],
            // A value or select does not choose a way: whatever follows the block may come next.
            None => block.successors.iter().map(|edge| edge.to).collect(),
        };
        let function_of = map.function_of_blocks();
        let mut found = BTreeSet::new();
        let mut seen: HashSet<BlockId> = HashSet::new();
        let mut pending = starts;
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let block = &map.blocks[id.index()];
            let mut comes_back = true;
            for call in block.calls.iter().filter(|call| !call.callees.is_empty()) {
                pending.extend(call.callees.iter().map(|callee| map.functions[callee.index()].entry()));
                if call.callees.iter().all(|callee| self.through[callee.index()] != 0) {
                    comes_back = false;
                    break;
                }
            }
            if !comes_back {
                continue;
            }
            let here = &self.conditions[id.index()];
            if !here.is_empty() {
                let both = |condition: &ConditionId| [true, false].map(|direction| (*condition, direction));
                found.extend(
                    here.iter().flat_map(both).map(|(condition, direction)| Branch { condition, direction }),
                );
                continue;
            }
            pending.extend(block.successors.iter().map(|edge| edge.to));
            if block.returns {
                for caller in &self.callers[function_of[id.index()].index()] {
                    let caller_conditions = &self.conditions[caller.index()];
                    if caller_conditions.is_empty() {
                        pending.extend(map.blocks[caller.index()].successors.iter().map(|edge| edge.to));
                    }
                    for condition in caller_conditions {
                        found.extend(
                            [true, false].map(|direction| Branch { condition: *condition, direction }),
                        );
                    }
                }
            }
        }
        found
    }

    /// What it costs to come past all calls of a block.
    fn pass_calls(&self, block: &Block) -> u32 {
        let cost = |callees: &[crate::FunctionId]| {
            callees.iter().map(|callee| self.through[callee.index()]).min().unwrap_or(0)
        };
        block.calls.iter().fold(0u32, |sum, call| sum.saturating_add(cost(&call.callees)))
    }
}

fn nearest_successor(block: &Block, distance: &[u32]) -> u32 {
    let cost = u32::from(block.successors.iter().filter(|edge| !edge.is_sure).count() > 1);
    let nearest = block.successors.iter().map(|edge| distance[edge.to.index()]).min();
    nearest.unwrap_or(FAR).saturating_add(cost)
}

/// Lowers every value to what `value_of` says until nothing changes. Blocks lie in emission order, so going
/// backwards settles most of them in one pass.
fn relax(map: &ProgramMap, values: &mut [u32], value_of: impl Fn(&[u32], usize, &Block) -> u32) {
    loop {
        let mut changed = false;
        for (index, block) in map.blocks.iter().enumerate().rev() {
            let value = value_of(values, index, block);
            if value < values[index] {
                values[index] = value;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        FunctionId, StableId,
        map::{Call, Edge, Function, Place},
    };

    fn edge(to: u32, is_sure: bool) -> Edge {
        Edge { to: BlockId(to), counter: None, shows: None, is_sure }
    }

    fn function(blocks: std::ops::Range<u32>) -> Function {
        Function {
            stable_id: StableId(0),
            name: String::new(),
            symbol: String::new(),
            place: Place { file: 0, line: 1, column: 1 },
            end_line: 1,
            blocks,
            in_scope: true,
            n_copies: 1,
        }
    }

    fn call(callee: u32) -> Call {
        Call { callees: vec![FunctionId(callee)], external: None, is_indirect: false, place: None }
    }

    /// f: 0 forks to 1 and 2, both return. main: 3 calls f, then forks to 4 and 5.
    fn two_functions() -> ProgramMap {
        let fork = |a, b| vec![edge(a, false), edge(b, false)];
        let returning = || Block { returns: true, ..Block::default() };
        ProgramMap {
            functions: vec![function(0..3), function(3..6)],
            blocks: vec![
                Block { successors: fork(1, 2), ..Block::default() },
                returning(),
                returning(),
                Block { successors: fork(4, 5), calls: vec![call(0)], ..Block::default() },
                returning(),
                returning(),
            ],
            ..ProgramMap::default()
        }
    }

    #[test]
    fn passing_a_call_costs_its_branches() {
        let map = two_functions();
        let graph = CallGraph::of(&map);
        let distances = graph.distances_to(&map, BlockId(4));
        assert_eq!(distances.from(BlockId(3)), Some(2));
    }

    #[test]
    fn a_way_leads_into_a_call_and_out_of_a_return() {
        let map = two_functions();
        let graph = CallGraph::of(&map);
        assert_eq!(graph.distances_to(&map, BlockId(1)).from(BlockId(3)), Some(1));
        assert_eq!(graph.distances_to(&map, BlockId(4)).from(BlockId(1)), Some(1));
        assert_eq!(graph.distances_to(&map, BlockId(1)).from(BlockId(4)), None);
    }

    #[test]
    fn the_nearest_of_several_targets_counts() {
        let map = two_functions();
        let distances = CallGraph::of(&map).distances_to_any(&map, &[BlockId(1), BlockId(4)]);
        assert_eq!(distances.from(BlockId(3)), Some(1));
        assert_eq!(distances.from(BlockId(4)), Some(0));
    }
}
