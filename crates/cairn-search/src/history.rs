//! What was reached when, and what was asked.

use crate::tree::PathId;
use cairn_model::{ConditionId, Coverage, FunctionId, ProgramMap, map::Branch};
use std::collections::BTreeMap;

/// What was reached when, and what was asked.
#[derive(Clone, Debug)]
pub struct History {
    n_executions: u32,
    coverage: Coverage,
    /// By branch: the execution that first took it.
    branches: Vec<Option<u32>>,
    /// By function: the execution that first entered it.
    functions: Vec<Option<u32>>,
    /// Branches that the last execution took first.
    new_branches: Vec<Branch>,
    /// By path: how many branches it took that none took before.
    n_new: Vec<u32>,
    n_covered: usize,
    last_new: u32,
    asked: BTreeMap<Branch, Asked>,
}

/// How often a branch was to be turned away from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// How often a run was made that should.
    pub n_negated: u32,
    /// How often there was no such input, none was found, or its run went elsewhere.
    pub n_failed: u32,
    /// The execution that was made last for this.
    pub last_execution: Option<u32>,
}

impl History {
    /// Nothing happened yet.
    pub(crate) fn new(map: &ProgramMap) -> Self {
        Self {
            n_executions: 0,
            coverage: Coverage::empty(map),
            branches: vec![None; 2 * map.conditions.len()],
            functions: vec![None; map.functions.len()],
            new_branches: Vec::new(),
            n_new: Vec::new(),
            n_covered: 0,
            last_new: 0,
            asked: BTreeMap::new(),
        }
    }

    /// Adds an execution by the counters that it left.
    pub(crate) fn execute(&mut self, map: &ProgramMap, counters: &[u8]) {
        self.n_executions += 1;
        self.new_branches.clear();
        self.look(map, counters);
        self.n_new.push(self.new_branches.len() as u32);
    }

    /// Notes what others have reached, by the counters that they hit.
    pub(crate) fn hear(&mut self, map: &ProgramMap, counters: &[u8]) {
        self.new_branches.clear();
        self.look(map, counters);
        self.new_branches.clear();
    }

    fn look(&mut self, map: &ProgramMap, counters: &[u8]) {
        let was_hit = |index: usize| self.coverage.counters().get(index).is_some_and(|count| *count != 0);
        let is_new = counters.iter().enumerate().any(|(index, count)| *count != 0 && !was_hit(index));
        self.coverage.add(counters);
        if !is_new {
            return;
        }
        for index in 0..self.branches.len() {
            let branch = Branch { condition: ConditionId((index / 2) as u32), direction: index % 2 == 1 };
            if self.branches[index].is_none() && self.coverage.covers(map, branch) {
                self.branches[index] = Some(self.n_executions);
                self.new_branches.push(branch);
            }
        }
        self.n_covered += self.new_branches.len();
        if !self.new_branches.is_empty() {
            self.last_new = self.n_executions;
        }
        let executed = self.coverage.executed_blocks(map);
        for (function, first) in map.functions.iter().zip(&mut self.functions) {
            if first.is_none() && function.blocks.clone().any(|block| executed[block as usize]) {
                *first = Some(self.n_executions);
            }
        }
    }

    /// Notes that a branch was to be turned away from, whether a run was made for it, and whether it failed.
    pub(crate) fn ask(&mut self, branch: Branch, has_run: bool, failed: bool) {
        let asked = self.asked.entry(branch).or_default();
        asked.n_failed += u32::from(failed);
        if has_run {
            asked.n_negated += 1;
            asked.last_execution = Some(self.n_executions);
        }
    }

    /// How many runs were made.
    pub fn n_executions(&self) -> u32 {
        self.n_executions
    }

    /// What they covered.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// How many branches of the map were taken.
    pub fn n_covered(&self) -> usize {
        self.n_covered
    }

    /// The execution that first took a branch, from 1.
    pub fn first_taken(&self, branch: Branch) -> Option<u32> {
        let index = 2 * branch.condition.index() + usize::from(branch.direction);
        self.branches.get(index).copied().flatten()
    }

    /// The execution that first entered a function, from 1.
    pub fn first_entered(&self, function: FunctionId) -> Option<u32> {
        self.functions.get(function.index()).copied().flatten()
    }

    /// The function that was entered first by the latest execution to enter a new one; of several the last in the map.
    pub fn latest_function(&self) -> Option<FunctionId> {
        let entered = self.functions.iter().enumerate().filter(|(_, first)| first.is_some());
        entered.max_by_key(|(_, first)| **first).map(|(index, _)| FunctionId(index as u32))
    }

    /// Branches that the last execution took and none before.
    pub fn new_branches(&self) -> &[Branch] {
        &self.new_branches
    }

    /// How many branches a path took that none took before.
    pub fn n_new(&self, path: PathId) -> usize {
        self.n_new.get(path.0 as usize).copied().unwrap_or(0) as usize
    }

    /// How many executions there were since one took a branch that none took before.
    pub fn n_since_new(&self) -> u32 {
        self.n_executions - self.last_new
    }

    /// How often a branch was to be turned away from.
    pub fn asked(&self, branch: Branch) -> Asked {
        self.asked.get(&branch).copied().unwrap_or_default()
    }
}
