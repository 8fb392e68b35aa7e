//! Z3, where it is installed.
//!
//! [`Smt::open`] finds the library at run time; without it everything else works and the error says what to install. One
//! [`Smt`] has one context and belongs to one thread. It keeps two solvers, one for bit vectors and one that knows floating
//! point too, and pushes and pops, because a fresh solver costs more than most queries. A solver made for bit vectors
//! must never see floating point: it answers with wrong models.
//!
//! Whatever goes wrong inside Z3 is an error code, never the end of the process; after one, the context is replaced.

mod check;
mod context;
mod floats;
mod library;
mod tables;
mod translate;

use self::{
    check::{Checked, Limits},
    context::{Context, Fault},
    library::Library,
    translate::{Translated, translate},
};
use crate::{
    Answer, Budget, Model, Query, Reason, Response, Solver, Stage, Statistics, Work,
    terms::{changeable, is_floating},
};
use cairn_expr::ExprId;
use std::{path::PathBuf, time::Instant};

/// Why Z3 cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SmtUnavailable {
    /// There is none.
    #[error(
        "Z3 is not installed, so some branches will stay unsolved\n\nhint: install `libz3-4` (4.8.12 or later)"
    )]
    NotFound,
    /// It is not the Z3 we know.
    #[error("`{path}` is Z3 {found}, too old to be used\n\nhint: install `libz3-4` 4.8.12 or later")]
    TooOld {
        /// The library.
        path: PathBuf,
        /// Its version.
        found: String,
    },
    /// It is something else.
    #[error(
        "`{path}` has no function `{function}`, so it cannot be used as Z3\n\nhint: install `libz3-4` 4.8.12 or later"
    )]
    MissingFunction {
        /// The library.
        path: PathBuf,
        /// What it lacks.
        function: &'static str,
    },
    /// It does not start.
    #[error("Z3 did not start: {0}")]
    NoContext(String),
}

/// Terms of a query beyond which Z3 is not asked. Translating is not covered by its limits.
const MAX_TERMS: usize = 50_000;

/// The `rlimit` below which floating-point queries are not asked: turning them into bits takes longer than that is for.
const LEAST_FOR_FLOATS: u64 = 100_000;

/// Z3 as a solver.
pub struct Smt {
    library: &'static Library,
    /// None after an error, until the next query.
    context: Option<Context>,
}

impl Smt {
    /// Opens Z3 and makes a context for this thread.
    pub fn open() -> Result<Self, SmtUnavailable> {
        let library = Library::open()?;
        let context = Context::new(library).map_err(|Fault(message)| SmtUnavailable::NoContext(message))?;
        Ok(Self { library, context: Some(context) })
    }

    /// The version of the library, as in `4.8.12`.
    pub fn version(&self) -> String {
        self.library.version.map(|number| number.to_string()).join(".")
    }

    fn try_solve(&mut self, query: &Query<'_>, budget: Budget) -> Result<(Answer, Work), Fault> {
        let start = Instant::now();
        let context = match &mut self.context {
            Some(context) => context,
            none => none.insert(Context::new(self.library)?),
        };
        let conditions: Vec<ExprId> = query.conditions().collect();
        let terms = changeable(query.dag, &conditions);
        if terms.len() > MAX_TERMS {
            return Ok((Answer::Unknown(Reason::TooLarge), Work::default()));
        }
        let has_floats = terms.iter().any(|term| is_floating(query.dag.op(*term)));
        if has_floats && budget.rlimit < LEAST_FOR_FLOATS {
            return Ok((Answer::Unknown(Reason::OutOfWork), Work::default()));
        }
        let Translated { assertions, bytes, theory, is_exact } =
            translate(context, query, &conditions, &terms)?;
        let timeout = budget.timeout.saturating_sub(start.elapsed());
        let limits = Limits { rlimit: budget.rlimit, timeout };
        let variables: Vec<context::Term> = bytes.iter().map(|(_, variable)| *variable).collect();
        let (checked, rlimit) = context.check(theory, &assertions, &variables, limits)?;
        context.release();
        let answer = match checked {
            Checked::Unsat => Answer::Unsat,
            Checked::Unknown(reason) => Answer::Unknown(unknown(&reason)),
            Checked::Sat(values) => {
                let model: Model = bytes
                    .iter()
                    .zip(values)
                    .filter_map(|((byte, _), value)| Some((byte.region, byte.offset, value? as u8)))
                    .collect();
                // Where the terms mean less than the query, a model is a guess, and a bad guess is not an error.
                match is_exact || query.holds(&model) {
                    true => Answer::Sat(model),
                    false => Answer::Unknown(Reason::Inexact),
                }
            }
        };
        Ok((answer, Work { evaluations: 0, rlimit }))
    }
}

impl Solver for Smt {
    fn solve(&mut self, query: &Query<'_>, budget: Budget) -> Response {
        let (answer, work) = match self.try_solve(query, budget) {
            Ok(solved) => solved,
            Err(Fault(message)) => {
                self.context = None;
                (Answer::Unknown(Reason::Failed(message)), Work::default())
            }
        };
        Response::new(Stage::Smt, answer, work)
    }

    fn collect(&self, _: &mut Statistics) {}
}

/// Z3's words for giving up, as ours. Some of its parts put their name before them, as in `sat.canceled`.
fn unknown(reason: &str) -> Reason {
    let cause = reason.strip_prefix("sat.").or_else(|| reason.strip_prefix("smt.")).unwrap_or(reason);
    match cause {
        "timeout" => Reason::OutOfTime,
        "canceled"
        | "max. resource limit exceeded"
        | "max. memory exceeded"
        | "interrupted from keyboard" => Reason::OutOfWork,
        _ => Reason::Failed(reason.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_is_used_up_is_no_failure() {
        for reason in ["canceled", "sat.canceled", "smt.canceled", "sat.max. memory exceeded"] {
            assert_eq!(unknown(reason), Reason::OutOfWork, "{reason}");
        }
        assert_eq!(unknown("smt.timeout"), Reason::OutOfTime);
        assert_eq!(unknown("incomplete"), Reason::Failed("incomplete".into()));
    }
}
