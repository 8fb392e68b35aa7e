use crate::{Answer, Budget, Query, Reason, Response, Solver, Stage, Statistics, shrink::shrink};
use std::collections::BTreeMap;

/// Believes no model: evaluates it on the query before passing it on.
///
/// A wrong one is counted under the stage that gave it, and the answer becomes [`Reason::WrongModel`]. A right one is
/// reduced to the bytes that have to differ from the seed.
pub struct Checked<S> {
    inner: S,
    n_wrong: BTreeMap<Stage, u64>,
}

impl<S: Solver> Checked<S> {
    /// Checks what `inner` says.
    pub fn new(inner: S) -> Self {
        Self { inner, n_wrong: BTreeMap::new() }
    }
}

impl<S: Solver> Solver for Checked<S> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let mut response = self.inner.solve(query, budget);
        if let Answer::Sat(model) = &response.answer {
            response.answer = if query.holds(model) {
                Answer::Sat(shrink(query, model))
            } else {
                *self.n_wrong.entry(response.stage).or_default() += 1;
                Answer::Unknown(Reason::WrongModel)
            };
        }
        response
    }

    fn collect(&self, statistics: &mut Statistics) {
        self.inner.collect(statistics);
        for (stage, n_wrong) in &self.n_wrong {
            let record = statistics.stages.entry(*stage).or_default();
            record.n_wrong_models += n_wrong;
        }
    }
}
