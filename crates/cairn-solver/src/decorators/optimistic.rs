use crate::{Answer, Budget, Query, Response, Solver, Statistics, Strength};
use std::time::Instant;

/// Asks again with fewer constraints when the whole query has no answer.
///
/// First the goal alone, with what always holds: if even that cannot be had, nothing can. Then the goal with a suffix of the constraints,
/// because the last branches before the goal are what its surroundings demand: half of them, a quarter. The strongest
/// answer is returned and says how many constraints it keeps. A refuted query stays refuted unless
/// [`Optimistic::also_refuted`] was asked for: then the path, not the goal, is impossible, and an input that satisfies
/// the goal may reach the branch by another path.
pub struct Optimistic<S> {
    inner: S,
    also_refuted: bool,
    n_optimistic: u64,
}

/// How many suffixes are tried.
const MAX_SUFFIXES: usize = 2;

impl<S: Solver> Optimistic<S> {
    /// Falls back when `inner` does not know.
    pub fn new(inner: S) -> Self {
        Self { inner, also_refuted: false, n_optimistic: 0 }
    }

    /// Falls back when `inner` says no, too.
    pub fn also_refuted(inner: S) -> Self {
        Self { inner, also_refuted: true, n_optimistic: 0 }
    }

    fn gives_up(&self, answer: &Answer) -> bool {
        match answer {
            Answer::Sat(_) => false,
            Answer::Unsat => self.also_refuted,
            Answer::Unknown(_) => true,
        }
    }
}

impl<S: Solver> Solver for Optimistic<S> {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let start = Instant::now();
        let full = self.inner.solve(query, budget);
        let (always, path) = query.constraints.split_at(query.n_always);
        if path.is_empty() || !self.gives_up(&full.answer) {
            return full;
        }
        let mut work = full.work;
        let mut strongest = None;
        for n_constraints in [0].into_iter().chain(suffixes(path.len())) {
            // The whole query has had its budget. A weaker one may have as much, but not the time again.
            let left = Budget { timeout: budget.timeout.saturating_sub(start.elapsed()), ..budget };
            if left.timeout.is_zero() {
                break;
            }
            let kept = [always, &path[path.len() - n_constraints..]].concat();
            let response = self.inner.solve(&query.with_constraints(&kept), left);
            work += response.work;
            match response.answer {
                Answer::Sat(_) => {
                    strongest =
                        Some(Response { strength: Strength::Optimistic { n_constraints }, ..response });
                    // Longer suffixes come first, so nothing stronger follows.
                    if n_constraints > 0 {
                        break;
                    }
                }
                // Less than the query is impossible, and so is the query.
                Answer::Unsat if n_constraints == 0 => return Response { work, ..response },
                Answer::Unsat => {}
                Answer::Unknown(_) if n_constraints == 0 => break,
                Answer::Unknown(_) => {}
            }
        }
        match strongest {
            Some(response) => {
                self.n_optimistic += 1;
                Response { work, ..response }
            }
            None => Response { work, ..full },
        }
    }

    fn collect(&self, statistics: &mut Statistics) {
        statistics.n_optimistic += self.n_optimistic;
        self.inner.collect(statistics);
    }
}

/// The lengths of the suffixes to try for so many constraints.
fn suffixes(n_constraints: usize) -> impl Iterator<Item = usize> {
    (1..=MAX_SUFFIXES).map(move |halvings| n_constraints >> halvings).filter(|length| *length > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_halve() {
        assert_eq!(suffixes(1).count(), 0);
        assert_eq!(suffixes(9).collect::<Vec<_>>(), [4, 2]);
    }
}
