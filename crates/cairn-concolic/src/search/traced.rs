//! Runs as a search sees them.

use crate::{
    event::Event,
    fixed::Origin,
    path::{Path, Step},
};
use cairn_expr::ExprId;
use cairn_model::{ConditionId, Ending, Input};
use cairn_search::{Run, Turn, TurnKind};
use std::collections::HashSet;

/// Runs inputs in the symbolic view of a program. The same input takes the same way, as far as the program lets it.
pub trait Tracer {
    /// Why a run could not be carried out.
    type Error;

    /// Runs an input.
    fn trace(&mut self, input: &Input) -> Result<Traced, Self::Error>;
}

/// A symbolic run.
#[derive(Debug)]
pub struct Traced {
    path: Path,
    counters: Vec<u8>,
    ending: Ending,
    is_whole: bool,
    is_cut: bool,
    turns: Vec<Turn>,
    /// By turns that depend on the input: their steps.
    steps: Vec<usize>,
}

impl Traced {
    /// A run that took this path and left these counters. `is_whole` says whether the trace tells of everything that depends on the input.
    pub fn new(path: Path, counters: Vec<u8>, ending: Ending, is_whole: bool) -> Self {
        let mut turns = Vec::new();
        let mut steps = Vec::new();
        let mut decided: HashSet<ExprId> = HashSet::new();
        for (index, step) in path.steps().iter().enumerate() {
            let Some(turn) = turn(step, &mut decided) else { continue };
            if turn.is_symbolic() {
                steps.push(index);
            }
            turns.push(turn);
        }
        let is_whole = is_whole && is_followed(&path);
        Self { path, counters, ending, is_whole, is_cut: false, turns, steps }
    }

    /// The same, of a run that went on where the trace ends.
    pub fn cut(self, is_cut: bool) -> Self {
        Self { is_cut, ..self }
    }

    /// Whether the run went on where the trace ends.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// What the run demands of its input.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The counters that it left.
    pub fn counters(&self) -> &[u8] {
        &self.counters
    }

    /// How it ended.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Whether no value of the input is unaccounted for: the trace is whole, and nothing in it was taken as it was.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The step of the `index`th turn that depends on the input, if `condition` is decided there.
    pub fn step(&self, index: usize, condition: Option<ConditionId>) -> Option<usize> {
        let step = self.steps.get(index).copied()?;
        match self.path.steps()[step].event {
            Event::Conditional { condition: decided, .. } if decided == condition => Some(step),
            _ => None,
        }
    }

    /// For a selector.
    pub fn run(&self) -> Run<'_> {
        Run { turns: &self.turns, counters: &self.counters }
    }

    /// How much memory it takes, roughly, in nodes and steps.
    pub(super) fn size(&self) -> usize {
        self.path.dag().len() + self.path.steps().len() + self.counters.len() / 64
    }
}

/// What a step decides, if it decides anything. What was decided before on the same path cannot be decided otherwise.
fn turn(step: &Step, decided: &mut HashSet<ExprId>) -> Option<Turn> {
    let Event::Conditional { condition, direction, .. } = step.event else { return None };
    let kind = match (step.constraint, step.origin) {
        (Some(constraint), Origin::Program) if decided.insert(constraint.holds) => TurnKind::Program,
        (Some(constraint), Origin::Library) if !decided.contains(&constraint.holds) => TurnKind::Library,
        _ => TurnKind::Fixed,
    };
    (condition.is_some() || kind != TurnKind::Fixed).then_some(Turn { condition, direction, kind })
}

/// Whether everything on a path that depends on its input is a turn.
fn is_followed(path: &Path) -> bool {
    let is_taken_as_it_was = |step: &Step| match step.event {
        Event::Address { .. } => true,
        Event::Conditional { .. } => step.constraint.is_none() && !path.taint(&step.event).is_empty(),
        _ => false,
    };
    path.damage().is_none() && path.n_mistakes() == 0 && !path.steps().iter().any(is_taken_as_it_was)
}
