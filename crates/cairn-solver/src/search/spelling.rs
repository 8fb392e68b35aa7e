//! Numbers that the input spells with digits.
//!
//! What `strtod` or `strtol` makes of text is one expression, in which every byte may be a digit, a point, a sign or the letter of
//! an exponent. From `1111` no change of a single byte leads closer to `3.75`, so neither descent nor inversion gets there. But
//! inversion knows which number is wanted, and a number that is known can be written down: [`fraction`]s and [`integer`]s,
//! wherever they are read from [`digits`].
//!
//! Where a range is asked for, inversion names its end. Fractions of few digits beside it are tried too: one of them lies in
//! any range that has room for it.

mod decimal;
mod digits;
mod fraction;
mod integer;
mod page;

use self::page::{End, Page};
use super::problem::Problem;
use crate::inversion::{Demand, Inversion};
use cairn_expr::{Dag, ExprId};
use std::ops::ControlFlow;

/// Broken conditions that are followed to numbers.
const MAX_BROKEN: usize = 3;

/// Numbers taken from each.
const MAX_NUMBERS: usize = 4;

/// Steps from operation to operation on the way to them.
const MAX_STEPS: usize = 400;

/// Bytes at which a number may begin: before it there may be white space.
const MAX_PLACES: usize = 4;

/// Writes numbers that broken conditions want to where they are read. Whether everything holds then; if not, the best candidate
/// is left in place.
pub fn spell(problem: &mut Problem<'_>) -> bool {
    let demands = wanted(problem);
    if demands.is_empty() {
        return false;
    }
    let mut attempts = Attempts::from(problem);
    for demand in demands {
        // One number may be written beside another that was wanted too.
        problem.restore(&attempts.best);
        let tried = match digits::read_at(problem.dag, demand.node) {
            Some(reader) => integer::write(problem, &mut attempts, demand, &reader),
            None => fraction::write(problem, &mut attempts, demand),
        };
        if tried.is_break() {
            break;
        }
    }
    problem.restore(&attempts.best);
    problem.is_solved()
}

/// The numbers that broken conditions want of what is read from digits.
fn wanted(problem: &Problem<'_>) -> Vec<Demand> {
    let dag = problem.dag;
    let mut found: Vec<Demand> = Vec::new();
    for broken in problem.broken().take(MAX_BROKEN) {
        let demand = Demand::whole(dag, broken, 1);
        let mut inversion = Inversion::new(demand, MAX_STEPS).up_to(is_read_from_digits);
        while inversion.next(dag, &mut |id| problem.value(id), &|_, _| false).is_some() {}
        let some = inversion.stopped().iter().take(MAX_NUMBERS);
        found.extend(some.filter(|demand| !found.contains(demand)).copied().collect::<Vec<_>>());
    }
    found
}

fn is_read_from_digits(dag: &Dag, id: ExprId) -> bool {
    digits::read_at(dag, id).is_some() || fraction::is_read_from_digits(dag, id)
}

/// What was there before anything was written, and the best that was.
struct Attempts {
    start: Vec<u8>,
    best: Vec<u8>,
    least: f64,
}

impl Attempts {
    fn from(problem: &Problem<'_>) -> Self {
        let start = problem.bytes().to_vec();
        Self { best: start.clone(), start, least: problem.total() }
    }

    /// Writes a number; breaks off when everything holds or the budget is used up.
    fn write(
        &mut self,
        problem: &mut Problem<'_>,
        page: &Page,
        place: usize,
        text: &str,
        end: End,
    ) -> ControlFlow<()> {
        if problem.is_spent() {
            return ControlFlow::Break(());
        }
        if let Some(distance) = page.write(problem, place, text.as_bytes(), end)
            && distance < self.least
        {
            self.least = distance;
            self.best = problem.bytes().to_vec();
            if problem.is_solved() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}
