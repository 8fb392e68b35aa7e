//! Asking Z3 whether assertions can hold.

use super::{
    context::{Context, Fault, Term},
    library::Object,
};
use std::{
    ffi::{CStr, c_uint},
    time::Duration,
};

/// What became of the assertions.
pub enum Checked {
    /// They can hold; the values of the variables asked about, none where any will do.
    Sat(Vec<Option<u64>>),
    /// They cannot hold together.
    Unsat,
    /// Z3 gave up, for this reason.
    Unknown(String),
}

/// Where to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Z3's own count of work.
    pub rlimit: u64,
    /// Wall-clock time.
    pub timeout: Duration,
}

impl Limits {
    /// Rounded so that queries with nearly the same limits have the same, and within what Z3 can be told.
    fn coarse(self) -> Self {
        const STEP: u128 = 250;
        let milliseconds = match self.timeout.as_millis() {
            few @ ..STEP => few.max(1),
            many => many.div_ceil(STEP) * STEP,
        };
        // 0 would be no limit.
        let rlimit = self.rlimit.clamp(1, u32::MAX.into());
        Self { rlimit, timeout: Duration::from_millis(milliseconds.min(u32::MAX.into()) as u64) }
    }
}

/// Which of the two solvers to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theory {
    /// Bit vectors only: the incremental SAT solver, several times faster than the general one.
    Integers,
    /// Floating point too: the tactic that turns it into bits. It starts anew for every query, but where the general
    /// solver takes seconds it takes a tenth of one; and queries that are easy have been answered before they get here.
    Floats,
}

/// Solvers are emptied after so many queries, because what was popped leaves clauses behind.
const QUERIES_BEFORE_RESET: u32 = 200;

/// A solver and what it was told.
pub struct Kept {
    pub(super) solver: Object,
    n_queries: u32,
    /// What it was told last; telling it takes longer than an easy query.
    limits: Option<Limits>,
}

impl Kept {
    /// No solver yet.
    pub fn none() -> Self {
        Self { solver: std::ptr::null_mut(), n_queries: 0, limits: None }
    }
}

impl Context {
    /// Whether `assertions` can hold together, and the values of `variables` if so; and how much work that was.
    pub fn check(
        &mut self,
        theory: Theory,
        assertions: &[Term],
        variables: &[Term],
        limits: Limits,
    ) -> Result<(Checked, u64), Fault> {
        let z3 = self.z3;
        let raw = self.raw;
        let limits = limits.coarse();
        let kept = match theory {
            Theory::Integers => &mut self.integers,
            Theory::Floats => &mut self.floats,
        };
        let solver = kept.solver;
        kept.n_queries += 1;
        if kept.n_queries > QUERIES_BEFORE_RESET {
            kept.n_queries = 0;
            kept.limits = None;
            // SAFETY: a live solver of this context.
            unsafe { (z3.Z3_solver_reset)(raw, solver) };
        }
        if kept.limits.replace(limits) != Some(limits) {
            self.limit(solver, limits)?;
        }
        // SAFETY: solver and terms are live and of this context; every push has its pop below.
        let answer = unsafe {
            (z3.Z3_solver_push)(raw, solver);
            for assertion in assertions {
                (z3.Z3_solver_assert)(raw, solver, assertion.0);
            }
            (z3.Z3_solver_check)(raw, solver)
        };
        let checked = self.refuse_errors().and_then(|()| match answer {
            1 => self.values(solver, variables).map(Checked::Sat),
            -1 => Ok(Checked::Unsat),
            _ => Ok(Checked::Unknown(self.reason(solver))),
        });
        let rlimit_now = self.rlimit_count(solver);
        // SAFETY: takes back the push above.
        unsafe { (z3.Z3_solver_pop)(raw, solver, 1) };
        let work = rlimit_now.wrapping_sub(std::mem::replace(&mut self.rlimit_before, rlimit_now));
        Ok((checked?, u64::from(work)))
    }

    fn limit(&mut self, solver: Object, limits: Limits) -> Result<(), Fault> {
        let z3 = self.z3;
        let timeout = limits.timeout.as_millis() as c_uint;
        let rlimit = limits.rlimit as c_uint;
        // SAFETY: names are terminated strings; the parameters are ours until their reference is given back.
        unsafe {
            let params = (z3.Z3_mk_params)(self.raw);
            if params.is_null() {
                return self.refuse_errors();
            }
            (z3.Z3_params_inc_ref)(self.raw, params);
            let symbol = |name: &CStr| (z3.Z3_mk_string_symbol)(self.raw, name.as_ptr());
            (z3.Z3_params_set_uint)(self.raw, params, symbol(c"timeout"), timeout);
            (z3.Z3_params_set_uint)(self.raw, params, symbol(c"rlimit"), rlimit);
            // Interrupting is the caller's business; Z3 would put its own handler in place for every query.
            (z3.Z3_params_set_bool)(self.raw, params, symbol(c"ctrl_c"), false);
            (z3.Z3_solver_set_params)(self.raw, solver, params);
            (z3.Z3_params_dec_ref)(self.raw, params);
        }
        self.refuse_errors()
    }

    fn values(&self, solver: Object, variables: &[Term]) -> Result<Vec<Option<u64>>, Fault> {
        let z3 = self.z3;
        // SAFETY: the model is the solver's last; we hold a reference while we read it. What evaluation returns is
        // looked at at once, before another call could free it.
        unsafe {
            let model = (z3.Z3_solver_get_model)(self.raw, solver);
            if model.is_null() {
                self.refuse_errors()?;
                return Err(Fault("no model was given".into()));
            }
            (z3.Z3_model_inc_ref)(self.raw, model);
            let values = variables
                .iter()
                .map(|variable| {
                    let mut value = std::ptr::null_mut();
                    let mut number = 0;
                    let known = (z3.Z3_model_eval)(self.raw, model, variable.0, false, &mut value)
                        && value != variable.0
                        && (z3.Z3_get_numeral_uint64)(self.raw, value, &mut number);
                    known.then_some(number)
                })
                .collect();
            (z3.Z3_model_dec_ref)(self.raw, model);
            Ok(values)
        }
    }

    fn reason(&self, solver: Object) -> String {
        // SAFETY: the text is copied before another call can change it.
        unsafe {
            let reason = (self.z3.Z3_solver_get_reason_unknown)(self.raw, solver);
            CStr::from_ptr(reason).to_string_lossy().into_owned()
        }
    }

    /// All work of this context so far, as Z3 counts it.
    fn rlimit_count(&self, solver: Object) -> u32 {
        let z3 = self.z3;
        // SAFETY: we hold a reference to the statistics while we read them; indexes are below their number.
        unsafe {
            let statistics = (z3.Z3_solver_get_statistics)(self.raw, solver);
            if statistics.is_null() {
                return self.rlimit_before;
            }
            (z3.Z3_stats_inc_ref)(self.raw, statistics);
            let n_entries = (z3.Z3_stats_size)(self.raw, statistics);
            let count = (0..n_entries)
                .find(|index| {
                    let key = (z3.Z3_stats_get_key)(self.raw, statistics, *index);
                    CStr::from_ptr(key) == c"rlimit count"
                        && (z3.Z3_stats_is_uint)(self.raw, statistics, *index)
                })
                .map_or(self.rlimit_before, |index| {
                    (z3.Z3_stats_get_uint_value)(self.raw, statistics, index)
                });
            (z3.Z3_stats_dec_ref)(self.raw, statistics);
            count
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_nearly_the_same_are_the_same() {
        let limits = |rlimit, millis| Limits { rlimit, timeout: Duration::from_millis(millis) }.coarse();
        assert_eq!(limits(5, 4_990), limits(5, 4_800));
        assert_eq!(limits(0, 0), limits(1, 1));
        assert_ne!(limits(5, 20), limits(5, 21));
        assert_eq!(limits(u64::MAX, 7).rlimit, u64::from(u32::MAX));
    }
}
