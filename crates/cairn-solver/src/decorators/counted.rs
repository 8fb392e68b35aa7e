use crate::{Budget, Query, Response, Solver, Stage, StageStatistics, Statistics};
use std::time::Instant;

/// Keeps the record of one stage.
pub struct Counted<S> {
    inner: S,
    stage: Stage,
    record: StageStatistics,
}

impl<S: Solver> Counted<S> {
    /// Records what `inner` does as the work of `stage`.
    pub fn new(stage: Stage, inner: S) -> Self {
        Self { inner, stage, record: StageStatistics::default() }
    }
}

impl<S: Solver> Solver for Counted<S> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let start = Instant::now();
        let response = self.inner.solve(query, budget);
        self.record.note(&response, start.elapsed());
        response
    }

    fn collect(&self, statistics: &mut Statistics) {
        statistics.add_stage(self.stage, &self.record);
        self.inner.collect(statistics);
    }
}
