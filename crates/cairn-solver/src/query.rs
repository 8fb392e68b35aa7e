//! What is asked: conditions that have to hold, on an input that is to be changed.

use crate::Model;
use cairn_abi::symbolic::RegionId;
use cairn_expr::{Bytes, Dag, Evaluator, ExprId};

/// A question: which bytes have to change so that everything holds?
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// Where the terms live.
    pub dag: &'a Dag,
    /// The path up to the branch; all have to hold. Each is of width 1.
    pub constraints: &'a [ExprId],
    /// So many of the first constraints say what an input can be at all: an answer without them is none.
    pub n_always: usize,
    /// What has to hold beyond, of width 1.
    pub goal: ExprId,
    /// The run's input.
    pub seed: &'a dyn Bytes,
}

impl<'a> Query<'a> {
    /// Everything that has to hold, the goal last.
    pub fn conditions(&self) -> impl Iterator<Item = ExprId> + 'a {
        self.constraints.iter().copied().chain([self.goal])
    }

    /// Whether everything holds on the seed changed by `model`.
    pub fn holds(&self, model: &Model) -> bool {
        let changed = Changed { seed: self.seed, model };
        let mut evaluator = Evaluator::new(self.dag, &changed);
        self.conditions().all(|condition| evaluator.value(condition) == 1)
    }

    /// The same query with these constraints, each of which may be left out.
    pub fn with_constraints<'b>(&self, constraints: &'b [ExprId]) -> Query<'b>
    where
        'a: 'b,
    {
        Query { constraints, n_always: 0, ..*self }
    }
}

/// An input with some bytes changed.
pub struct Changed<'a> {
    /// The input.
    pub seed: &'a dyn Bytes,
    /// What is different.
    pub model: &'a Model,
}

impl Bytes for Changed<'_> {
    fn byte(&self, region: RegionId, offset: u32) -> u8 {
        self.model.get(region, offset).unwrap_or_else(|| self.seed.byte(region, offset))
    }
}
