//! What an input is good for, as elements of a set.

use cairn_campaign::minimize::BitSet;
use cairn_executor::Execution;
use cairn_model::{
    ConditionId, Coverage, Ending, Input, MutantId, ProgramMap,
    input::{FileKind, VariableValue},
    map::Branch,
};
use std::collections::BTreeMap;

/// How many ways to end there are.
const N_ENDINGS: usize = 256 + 128 + 8;

/// Numbers branches, lines, ways to end and mutants, one after the other.
pub struct Yardstick<'a> {
    map: &'a ProgramMap,
    /// For each block of a function in scope, the numbers of its lines.
    lines: Vec<Vec<usize>>,
    n_lines: usize,
}

impl<'a> Yardstick<'a> {
    pub fn new(map: &'a ProgramMap) -> Self {
        let mut numbers = BTreeMap::new();
        let mut lines = vec![Vec::new(); map.blocks.len()];
        for function in map.functions.iter().filter(|function| function.in_scope) {
            for block in function.blocks.clone() {
                for line in &map.blocks[block as usize].lines {
                    let next = numbers.len();
                    lines[block as usize].push(*numbers.entry(*line).or_insert(next));
                }
            }
        }
        Self { map, lines, n_lines: numbers.len() }
    }

    /// What a run is good for.
    pub fn of(&self, execution: &Execution) -> BitSet {
        let mut coverage = Coverage::empty(self.map);
        coverage.add(&execution.counters);
        let mut elements = BitSet::default();
        for index in 0..self.map.conditions.len() {
            for direction in [false, true] {
                let branch = Branch { condition: ConditionId(index as u32), direction };
                if coverage.covers(self.map, branch) {
                    elements.insert(2 * index + usize::from(direction));
                }
            }
        }
        let executed = coverage.executed_blocks(self.map);
        for (lines, _) in self.lines.iter().zip(executed).filter(|(_, executed)| *executed) {
            elements.extend(lines.iter().map(|line| self.n_branches() + line));
        }
        elements.insert(self.n_branches() + self.n_lines + number_of(&execution.outcome.ending));
        elements
    }

    /// The element that stands for a killed mutant.
    pub fn kill(&self, mutant: MutantId) -> usize {
        self.first_kill() + mutant.index()
    }

    /// The mutants among elements.
    pub fn kills(&self, elements: &BitSet) -> Vec<MutantId> {
        let numbers = elements.iter().filter_map(|element| element.checked_sub(self.first_kill()));
        numbers.map(|number| MutantId(number as u32)).collect()
    }

    /// The elements without the mutants.
    pub fn without_kills(&self, elements: &BitSet) -> BitSet {
        elements.iter().take_while(|element| *element < self.first_kill()).collect()
    }

    /// Branches, lines and killed mutants among elements.
    pub fn counts(&self, elements: &BitSet) -> (usize, usize, usize) {
        let lines = self.n_branches()..self.n_branches() + self.n_lines;
        let n_branches = elements.iter().filter(|element| *element < lines.start).count();
        let n_lines = elements.iter().filter(|element| lines.contains(element)).count();
        (n_branches, n_lines, self.kills(elements).len())
    }

    /// All branches there are.
    pub fn n_branches(&self) -> usize {
        2 * self.map.conditions.len()
    }

    fn first_kill(&self) -> usize {
        self.n_branches() + self.n_lines + N_ENDINGS
    }
}

/// The number of a way to end; which limit a hang meets first depends on the machine.
fn number_of(ending: &Ending) -> usize {
    match ending {
        Ending::Exited { code } => usize::from(*code),
        Ending::Signalled { signal } => 256 + (*signal).clamp(0, 127) as usize,
        Ending::TimedOut | Ending::OutOfFuel => 384,
        Ending::OutOfMemory => 385,
        Ending::TooMuchOutput => 386,
        Ending::Stopped => 387,
        Ending::AssumptionFailed => 388,
        Ending::GuidepostBroken => 389,
        Ending::DeliveryMismatch => 390,
        Ending::Forbidden { .. } => 391,
    }
}

/// How many bytes a person would have to read.
pub fn size(input: &Input) -> u64 {
    let files = input.files.iter().map(|file| {
        let content = match &file.kind {
            FileKind::Regular(content) | FileKind::Symlink(content) => content.0.len(),
            FileKind::Hardlink(other) => other.len(),
            FileKind::Folder | FileKind::Fifo => 0,
        };
        content + file.path.len()
    });
    let variables = input.variables.iter().map(|variable| match &variable.value {
        VariableValue::Bytes(bytes) => bytes.0.len(),
        _ => 8,
    });
    let environment = input.environment.iter().map(|(name, value)| name.len() + value.0.len());
    let args = input.args.iter().map(|arg| arg.0.len() + 1);
    let buffer = input.buffer.iter().map(|buffer| buffer.0.len());
    let parts = files.chain(variables).chain(environment).chain(args).chain(buffer);
    (input.stdin.0.len() + parts.sum::<usize>()) as u64
}
