use crate::{Budget, Query, Response, Solver, Statistics};

/// Asks the inner solver with at most this budget, whatever the caller would allow.
///
/// So a cheap stage cannot use up what the next ones need.
pub struct Budgeted<S> {
    inner: S,
    most: Budget,
}

impl<S: Solver> Budgeted<S> {
    /// Limits `inner`.
    pub fn new(inner: S, most: Budget) -> Self {
        Self { inner, most }
    }
}

impl<S: Solver> Solver for Budgeted<S> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        self.inner.solve(query, budget.min(self.most))
    }

    fn collect(&self, statistics: &mut Statistics) {
        self.inner.collect(statistics);
    }
}
