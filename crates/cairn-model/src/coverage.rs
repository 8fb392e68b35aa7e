//! Which parts of a program map were executed.

use crate::{
    ids::{ConditionId, CounterId},
    map::{Branch, ProgramMap},
};
use std::collections::BTreeMap;

/// Counters of one or more runs, merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    counters: Vec<u8>,
}

impl Coverage {
    /// Nothing covered yet.
    pub fn empty(map: &ProgramMap) -> Self {
        Self { counters: vec![0; map.n_counters as usize] }
    }

    /// Adds the counters of a run; missing ones count as not hit.
    pub fn add(&mut self, counters: &[u8]) {
        for (sum, counter) in self.counters.iter_mut().zip(counters) {
            *sum = sum.saturating_add(*counter);
        }
    }

    /// Adds what a run hit, where only classes of its counts are known.
    pub fn add_hits(&mut self, hits: &[(u32, u8)]) {
        for (counter, class) in hits {
            if let Some(sum) = self.counters.get_mut(*counter as usize) {
                *sum = sum.saturating_add(*class);
            }
        }
    }

    /// The merged counters, as a baseline for later runs.
    pub fn counters(&self) -> &[u8] {
        &self.counters
    }

    /// Whether a counter was hit.
    pub fn hit(&self, counter: CounterId) -> bool {
        self.counters.get(counter.index()).is_some_and(|count| *count != 0)
    }

    /// Whether a branch was taken.
    pub fn covers(&self, map: &ProgramMap, branch: Branch) -> bool {
        let condition = &map.conditions[branch.condition.index()];
        let counters = if branch.direction { &condition.when_true } else { &condition.when_false };
        counters.iter().any(|counter| self.hit(*counter))
    }

    /// How many branches were taken.
    pub fn n_branches(&self, map: &ProgramMap) -> usize {
        (0..map.conditions.len() as u32)
            .flat_map(|index| {
                [true, false].map(|direction| Branch { condition: ConditionId(index), direction })
            })
            .filter(|branch| self.covers(map, *branch))
            .count()
    }

    /// Whether each block was executed, by block id.
    ///
    /// A block was executed if its own counter, a counted way into it or a counted way out of it was hit, or if
    /// a block that surely leads to it was executed.
    pub fn executed_blocks(&self, map: &ProgramMap) -> Vec<bool> {
        let mut executed = vec![false; map.blocks.len()];
        for (index, block) in map.blocks.iter().enumerate() {
            executed[index] |= block.counter.is_some_and(|counter| self.hit(counter));
            for edge in &block.successors {
                if edge.counter.is_some_and(|counter| self.hit(counter)) {
                    executed[index] = true;
                    executed[edge.to.index()] = true;
                }
            }
        }
        let mut pending: Vec<usize> = (0..executed.len()).filter(|index| executed[*index]).collect();
        while let Some(index) = pending.pop() {
            for edge in map.blocks[index].successors.iter().filter(|edge| edge.is_sure) {
                if !std::mem::replace(&mut executed[edge.to.index()], true) {
                    pending.push(edge.to.index());
                }
            }
        }
        executed
    }

    /// Whether each line with code was executed, by (file, line), functions in scope only.
    pub fn lines(&self, map: &ProgramMap) -> BTreeMap<(u32, u32), bool> {
        let executed = self.executed_blocks(map);
        let mut lines = BTreeMap::new();
        for function in map.functions.iter().filter(|function| function.in_scope) {
            for index in function.blocks.clone() {
                for line in &map.blocks[index as usize].lines {
                    *lines.entry(*line).or_insert(false) |= executed[index as usize];
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockId,
        ids::StableId,
        map::{Block, Edge, Function, Place},
    };

    fn edge(to: u32, counter: Option<u32>, is_sure: bool) -> Edge {
        Edge { to: BlockId(to), counter: counter.map(CounterId), shows: None, is_sure }
    }

    fn block(line: u32, counter: Option<u32>, successors: Vec<Edge>) -> Block {
        Block { lines: vec![(0, line)], successors, counter: counter.map(CounterId), ..Block::default() }
    }

    /// Block 0 (entry) calls something doubtful; 1 forks to 2 and 3 by counters 1 and 2; both lead surely to 4.
    fn map() -> ProgramMap {
        let function = Function {
            stable_id: StableId(0),
            name: "f".into(),
            symbol: "f".into(),
            place: Place { file: 0, line: 10, column: 1 },
            end_line: 14,
            blocks: 0..5,
            in_scope: true,
            n_copies: 1,
        };
        ProgramMap {
            functions: vec![function],
            blocks: vec![
                block(10, Some(0), vec![edge(1, None, false)]),
                block(11, None, vec![edge(2, Some(1), false), edge(3, Some(2), false)]),
                block(12, None, vec![edge(4, None, true)]),
                block(13, None, vec![edge(4, None, true)]),
                block(14, None, vec![]),
            ],
            n_counters: 3,
            ..ProgramMap::default()
        }
    }

    fn executed_lines(counters: &[u8]) -> Vec<u32> {
        let map = map();
        let mut coverage = Coverage::empty(&map);
        coverage.add(counters);
        coverage
            .lines(&map)
            .into_iter()
            .filter(|(_, executed)| *executed)
            .map(|((_, line), _)| line)
            .collect()
    }

    #[test]
    fn nothing_is_inferred_behind_a_doubtful_call() {
        assert_eq!(executed_lines(&[1, 0, 0]), [10]);
    }

    #[test]
    fn a_counted_edge_proves_both_its_ends_and_what_surely_follows() {
        assert_eq!(executed_lines(&[1, 0, 7]), [10, 11, 13, 14]);
    }

    #[test]
    fn runs_add_up_and_short_counters_count_as_not_hit() {
        let map = map();
        let mut coverage = Coverage::empty(&map);
        coverage.add(&[255, 1]);
        coverage.add(&[255]);
        assert_eq!(coverage.counters(), [255, 1, 0]);
    }
}
