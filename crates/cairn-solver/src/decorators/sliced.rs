use crate::{
    Answer, Budget, Query, Response, Solver, Stage, StageStatistics, Statistics, Work, query::Changed,
    slice::slice,
};
use cairn_expr::Evaluator;
use std::time::Instant;

/// Leaves out the constraints that have nothing to do with the goal, and answers what needs no solver.
///
/// What is left out holds on the seed, because the seed took the path; should that not be so, the whole query is asked.
pub struct Sliced<S> {
    inner: S,
    trivial: StageStatistics,
    n_constraints: u64,
    n_sliced_constraints: u64,
}

impl<S: Solver> Sliced<S> {
    /// Asks `inner` the sliced queries.
    pub fn new(inner: S) -> Self {
        Self { inner, trivial: StageStatistics::default(), n_constraints: 0, n_sliced_constraints: 0 }
    }
}

impl<S: Solver> Solver for Sliced<S> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let start = Instant::now();
        if let Some(answer) = trivial_answer(query) {
            let response = Response::new(Stage::Trivial, answer, Work::default());
            self.trivial.note(&response, start.elapsed());
            return response;
        }
        let related = slice(query.dag, query.constraints, query.goal);
        self.n_constraints += query.constraints.len() as u64;
        self.n_sliced_constraints += related.len() as u64;
        let response = self.inner.solve(&query.with_constraints(&related), budget);
        match &response.answer {
            Answer::Sat(model) if related.len() < query.constraints.len() && !query.holds(model) => {
                let left = budget.without(response.work, start.elapsed());
                let mut again = self.inner.solve(query, left);
                again.work += response.work;
                again
            }
            _ => response,
        }
    }

    fn collect(&self, statistics: &mut Statistics) {
        statistics.n_constraints += self.n_constraints;
        statistics.n_sliced_constraints += self.n_sliced_constraints;
        statistics.add_stage(Stage::Trivial, &self.trivial);
        self.inner.collect(statistics);
    }
}

/// The answer, if the goal or a constraint does not depend on the input, or the seed is one already.
fn trivial_answer(query: &Query<'_>) -> Option<Answer> {
    let model = crate::Model::default();
    let seed = Changed { seed: query.seed, model: &model };
    let mut evaluator = Evaluator::new(query.dag, &seed);
    let is_refuted =
        query.conditions().any(|condition| query.dag.is_fixed(condition) && evaluator.value(condition) == 0);
    if is_refuted {
        return Some(Answer::Unsat);
    }
    // The goal is what the seed breaks, so most queries stop at it.
    let holds = evaluator.value(query.goal) == 1
        && query.constraints.iter().all(|constraint| evaluator.value(*constraint) == 1);
    holds.then(|| Answer::Sat(model.clone()))
}
