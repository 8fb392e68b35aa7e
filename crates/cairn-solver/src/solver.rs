//! The trait all solvers and decorators share.

use crate::{Budget, Query, Response, Statistics};
use std::{cell::RefCell, rc::Rc};

/// Answers queries.
///
/// Solvers are composed: a decorator is a solver around another. [`crate::standard()`] builds the usual composition.
pub trait Solver {
    /// Answers a query within a budget. The same solver asked the same queries in the same order gives the same answers,
    /// unless time runs out.
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response;

    /// Adds what this solver, and those inside it, know about their work.
    fn collect(&self, statistics: &mut Statistics);
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        (**self).solve(query, budget)
    }

    fn collect(&self, statistics: &mut Statistics) {
        (**self).collect(statistics);
    }
}

/// Used in several places of one composition.
impl<S: Solver> Solver for Rc<RefCell<S>> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        self.borrow_mut().solve(query, budget)
    }

    fn collect(&self, statistics: &mut Statistics) {
        self.borrow().collect(statistics);
    }
}
