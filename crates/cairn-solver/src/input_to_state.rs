//! Undoes the goal, then whatever that broke, one condition after the other.

use crate::{
    Answer, Budget, Model, Query, Reason, Response, Solver, Stage, Statistics, Work,
    inversion::{Demand, Inversion},
    query::Changed,
};
use cairn_expr::{Evaluator, ExprId, InputByte};

/// The cheapest method: computes the bytes instead of looking for them.
///
/// It answers when the goal is a comparison of something that can be undone, as magic numbers, lengths, encodings and
/// checksums stored in the input are. It never refutes.
#[derive(Clone, Copy, Debug, Default)]
pub struct InputToState;

/// How many assignments are tried for the goal, and for each condition that broke, by depth.
const TRIES: [usize; 6] = [24, 8, 4, 2, 2, 1];

/// Steps from operation to operation for each condition.
const MAX_STEPS: usize = 2_000;

/// Evaluations of the query; beyond it, the search is better.
const MAX_EVALUATIONS: u64 = 300;

impl Solver for InputToState {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let mut attempt = Attempt { query, evaluations: 0, limit: budget.evaluations.min(MAX_EVALUATIONS) };
        let mut model = Model::default();
        let answer = match attempt.repair(&mut model, query.goal, 0) {
            true => Answer::Sat(model),
            false => Answer::Unknown(Reason::NotFound),
        };
        let work = Work { evaluations: attempt.evaluations, rlimit: 0 };
        Response::new(Stage::InputToState, answer, work)
    }

    fn collect(&self, _: &mut Statistics) {}
}

struct Attempt<'a, 'q> {
    query: &'a Query<'q>,
    evaluations: u64,
    limit: u64,
}

impl Attempt<'_, '_> {
    /// Makes a broken condition hold without touching the bytes already in `model`, then the next that is broken.
    /// Leaves the model as it was if that does not succeed.
    fn repair(&mut self, model: &mut Model, broken: ExprId, depth: usize) -> bool {
        let Some(n_tries) = TRIES.get(depth) else { return false };
        let before = model.clone();
        let changed = Changed { seed: self.query.seed, model: &before };
        let mut evaluator = Evaluator::new(self.query.dag, &changed);
        let mut inversion = Inversion::new(Demand::whole(self.query.dag, broken, 1), MAX_STEPS);
        let allowed = |byte: InputByte, value: u8| {
            before.get(byte.region, byte.offset).is_none_or(|settled| settled == value)
        };
        for _ in 0..*n_tries {
            if self.evaluations >= self.limit {
                break;
            }
            let next = inversion.next(self.query.dag, &mut |id| evaluator.value(id), &allowed);
            let Some(assignment) = next else { break };
            for (byte, value) in assignment {
                model.set(byte.region, byte.offset, value);
            }
            match self.first_broken(model, broken) {
                None => return true,
                // Undoing did not help: an operand that should have kept its value has changed.
                Some(still) if still == broken => {}
                Some(next) => {
                    if self.repair(model, next, depth + 1) {
                        return true;
                    }
                }
            }
            model.clone_from(&before);
        }
        false
    }

    /// The first condition that does not hold; `first` is looked at before the others.
    fn first_broken(&mut self, model: &Model, first: ExprId) -> Option<ExprId> {
        self.evaluations += 1;
        let changed = Changed { seed: self.query.seed, model };
        let mut evaluator = Evaluator::new(self.query.dag, &changed);
        let goal = self.query.goal;
        [first, goal]
            .into_iter()
            .chain(self.query.constraints.iter().copied())
            .find(|condition| evaluator.value(*condition) == 0)
    }
}
