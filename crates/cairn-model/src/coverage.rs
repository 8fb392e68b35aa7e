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
