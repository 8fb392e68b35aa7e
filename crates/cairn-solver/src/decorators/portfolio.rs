use crate::{Answer, Budget, Query, Reason, Response, Solver, Stage, Statistics, Work};
use std::time::Instant;

/// Asks one solver after the other until one knows.
///
/// Each may use what the earlier ones left of the budget.
#[derive(Default)]
pub struct Portfolio {
    members: Vec<Box<dyn Solver>>,
}

impl Portfolio {
    /// Asks `members` in their order.
    pub fn new(members: Vec<Box<dyn Solver>>) -> Self {
        Self { members }
    }
}

impl Solver for Portfolio {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let start = Instant::now();
        let mut work = Work::default();
        let mut last = Response::new(Stage::Trivial, Answer::Unknown(Reason::NotFound), work);
        for member in &mut self.members {
            let left = budget.without(work, start.elapsed());
            if left.timeout.is_zero() {
                last.answer = Answer::Unknown(Reason::OutOfTime);
                break;
            }
            let response = member.solve(query, left);
            work += response.work;
            last = response;
            if !matches!(last.answer, Answer::Unknown(_)) {
                break;
            }
        }
        Response { work, ..last }
    }

    fn collect(&self, statistics: &mut Statistics) {
        for member in &self.members {
            member.collect(statistics);
        }
    }
}
