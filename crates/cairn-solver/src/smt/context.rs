//! A Z3 context whose terms are counted and whose errors are results.

use super::{
    check::Kept,
    library::{ErrorHandler, Functions, Library, Object},
};
use std::ffi::{CStr, c_int, c_uint};

/// A term of one context, alive until [`Context::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term(pub(super) Object);

/// What Z3 said when it failed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

/// One of Z3's constructors of terms.
pub type Unary = unsafe extern "C" fn(Object, Object) -> Object;
/// One with two operands.
pub type Binary = unsafe extern "C" fn(Object, Object, Object) -> Object;
/// One with three operands.
pub type Ternary = unsafe extern "C" fn(Object, Object, Object, Object) -> Object;
/// One without operands.
pub type Nullary = unsafe extern "C" fn(Object) -> Object;

/// Widest integers there are.
const MAX_WIDTH: usize = 128;

/// A context with its two solvers. It belongs to the thread that made it.
pub struct Context {
    /// Z3's functions, for naming constructors.
    pub z3: &'static Functions,
    pub(super) raw: Object,
    pub(super) integers: Kept,
    pub(super) floats: Kept,
    sorts: [Object; MAX_WIDTH + 1],
    float_sorts: [Object; 2],
    terms: Vec<Object>,
    /// Z3's count of work after the last query.
    pub(super) rlimit_before: u32,
}

/// Errors are asked for after every call; without a handler of ours, Z3 ends the process.
extern "C" fn keep_quiet(_: Object, _: c_int) {}

impl Context {
    /// A new context.
    pub fn new(library: &'static Library) -> Result<Self, Fault> {
        let z3 = &library.functions;
        // SAFETY: the configuration is deleted once, after the context has copied it; the handler has Z3's signature and
        // lives as long as the program.
        let raw = unsafe {
            let config = (z3.Z3_mk_config)();
            let raw = (z3.Z3_mk_context_rc)(config);
            (z3.Z3_del_config)(config);
            if raw.is_null() {
                return Err(Fault("no context could be made".into()));
            }
            (z3.Z3_set_error_handler)(raw, keep_quiet as ErrorHandler);
            raw
        };
        let mut context = Self {
            z3,
            raw,
            integers: Kept::none(),
            floats: Kept::none(),
            sorts: [std::ptr::null_mut(); MAX_WIDTH + 1],
            float_sorts: [std::ptr::null_mut(); 2],
            terms: Vec::new(),
            rlimit_before: 0,
        };
        // Each is kept at once: the next object Z3 makes would be the end of one nobody has counted.
        // SAFETY: the context is live, the name a terminated string.
        let integers = unsafe {
            let logic = (z3.Z3_mk_string_symbol)(raw, c"QF_BV".as_ptr());
            (z3.Z3_mk_solver_for_logic)(raw, logic)
        };
        context.integers.solver = context.keep_solver(integers)?;
        // SAFETY: as above; the solver keeps a reference of its own to the tactic.
        let floats = unsafe {
            let tactic = (z3.Z3_mk_tactic)(raw, c"qffp".as_ptr());
            if tactic.is_null() {
                context.refuse_errors()?;
                return Err(Fault("there is no tactic for floating point".into()));
            }
            (z3.Z3_tactic_inc_ref)(raw, tactic);
            let floats = (z3.Z3_mk_solver_from_tactic)(raw, tactic);
            let kept = context.keep_solver(floats);
            (z3.Z3_tactic_dec_ref)(raw, tactic);
            kept
        };
        context.floats.solver = floats?;
        Ok(context)
    }

    fn keep_solver(&mut self, solver: Object) -> Result<Object, Fault> {
        self.refuse_errors()?;
        if solver.is_null() {
            return Err(Fault("no solver could be made".into()));
        }
        // SAFETY: a live solver of this context; its reference is given back when the context is dropped.
        unsafe { (self.z3.Z3_solver_inc_ref)(self.raw, solver) };
        Ok(solver)
    }

    /// What the last call has done wrong, if it has.
    pub(super) fn refuse_errors(&self) -> Result<(), Fault> {
        // SAFETY: the context is live; the message is copied before another call can change it.
        unsafe {
            let code = (self.z3.Z3_get_error_code)(self.raw);
            if code == 0 {
                return Ok(());
            }
            let message = (self.z3.Z3_get_error_msg)(self.raw, code);
            Err(Fault(CStr::from_ptr(message).to_string_lossy().into_owned()))
        }
    }

    /// Takes a term Z3 has made into our care.
    fn keep(&mut self, raw: Object) -> Result<Term, Fault> {
        if raw.is_null() {
            self.refuse_errors()?;
            return Err(Fault("no term was made".into()));
        }
        // SAFETY: a term of this context; its reference is given back by `release`.
        unsafe { (self.z3.Z3_inc_ref)(self.raw, raw) };
        self.terms.push(raw);
        Ok(Term(raw))
    }

    /// Gives all terms back. Those handed out must not be used any more.
    pub fn release(&mut self) {
        for term in self.terms.drain(..) {
            // SAFETY: `keep` took this reference and nobody has given it back.
            unsafe { (self.z3.Z3_dec_ref)(self.raw, term) };
        }
    }

    /// The term a constructor without operands makes.
    pub fn nullary(&mut self, make: Nullary) -> Result<Term, Fault> {
        // SAFETY: `make` is one of Z3's constructors and the context is live.
        let raw = unsafe { make(self.raw) };
        self.keep(raw)
    }

    /// The term a constructor makes of an operand. Wrong sorts are faults.
    pub fn unary(&mut self, make: Unary, a: Term) -> Result<Term, Fault> {
        // SAFETY: as for `nullary`; terms are live until `release`.
        let raw = unsafe { make(self.raw, a.0) };
        self.keep(raw)
    }

    /// The term a constructor makes of two operands.
    pub fn binary(&mut self, make: Binary, a: Term, b: Term) -> Result<Term, Fault> {
        // SAFETY: as for `unary`.
        let raw = unsafe { make(self.raw, a.0, b.0) };
        self.keep(raw)
    }

    /// The term a constructor makes of three operands.
    pub fn ternary(&mut self, make: Ternary, a: Term, b: Term, c: Term) -> Result<Term, Fault> {
        // SAFETY: as for `unary`.
        let raw = unsafe { make(self.raw, a.0, b.0, c.0) };
        self.keep(raw)
    }

    /// Both hold.
    pub fn and(&mut self, a: Term, b: Term) -> Result<Term, Fault> {
        let both = [a.0, b.0];
        // SAFETY: the array has the two live terms it is said to have.
        let raw = unsafe { (self.z3.Z3_mk_and)(self.raw, 2, both.as_ptr()) };
        self.keep(raw)
    }

    /// At least one holds.
    pub fn or(&mut self, a: Term, b: Term) -> Result<Term, Fault> {
        let both = [a.0, b.0];
        // SAFETY: the array has the two live terms it is said to have.
        let raw = unsafe { (self.z3.Z3_mk_or)(self.raw, 2, both.as_ptr()) };
        self.keep(raw)
    }

    /// `condition ? then : otherwise`.
    pub fn ite(&mut self, condition: Term, then: Term, otherwise: Term) -> Result<Term, Fault> {
        self.ternary(self.z3.Z3_mk_ite, condition, then, otherwise)
    }

    /// Bits `low` to `high`, both included.
    pub fn extract(&mut self, high: u32, low: u32, a: Term) -> Result<Term, Fault> {
        // SAFETY: as for `unary`; bounds outside are a fault.
        let raw = unsafe { (self.z3.Z3_mk_extract)(self.raw, high, low, a.0) };
        self.keep(raw)
    }

    /// `a` with `more` zeros above.
    pub fn zero_extend(&mut self, more: u32, a: Term) -> Result<Term, Fault> {
        // SAFETY: as for `unary`.
        let raw = unsafe { (self.z3.Z3_mk_zero_ext)(self.raw, more, a.0) };
        self.keep(raw)
    }

    /// `a` with `more` copies of its sign above.
    pub fn sign_extend(&mut self, more: u32, a: Term) -> Result<Term, Fault> {
        // SAFETY: as for `unary`.
        let raw = unsafe { (self.z3.Z3_mk_sign_ext)(self.raw, more, a.0) };
        self.keep(raw)
    }

    /// `a` as a signed integer of `width` bits.
    pub fn float_to_signed(&mut self, rounding: Term, a: Term, width: u32) -> Result<Term, Fault> {
        // SAFETY: as for `unary`.
        let raw = unsafe { (self.z3.Z3_mk_fpa_to_sbv)(self.raw, rounding.0, a.0, width) };
        self.keep(raw)
    }

    /// The bits `a` as a floating-point number, or `a` converted by `make`, which takes a sort last.
    pub fn float_from(&mut self, make: Binary, a: Term, width: u32) -> Result<Term, Fault> {
        let sort = self.float_sort(width)?;
        self.binary(make, a, Term(sort))
    }

    /// `a` rounded to a floating-point number by `make`, which takes a rounding first and a sort last.
    pub fn round_to_float(
        &mut self,
        make: Ternary,
        rounding: Term,
        a: Term,
        width: u32,
    ) -> Result<Term, Fault> {
        let sort = self.float_sort(width)?;
        self.ternary(make, rounding, a, Term(sort))
    }

    /// A constant at most 128 bits wide.
    pub fn number(&mut self, width: u32, value: u128) -> Result<Term, Fault> {
        if width > 64 {
            let high = self.number(width - 64, value >> 64)?;
            let low = self.number(64, value & u128::from(u64::MAX))?;
            return self.binary(self.z3.Z3_mk_concat, high, low);
        }
        let sort = self.sort(width)?;
        // SAFETY: the sort is live as long as the context.
        let raw = unsafe { (self.z3.Z3_mk_unsigned_int64)(self.raw, value as u64, sort) };
        self.keep(raw)
    }

    /// The variable number `index` of a width. The same number and width are the same variable.
    pub fn variable(&mut self, index: u32, width: u32) -> Result<Term, Fault> {
        let sort = self.sort(width)?;
        // SAFETY: symbols live as long as the context; the sort does too.
        let raw = unsafe {
            let symbol = (self.z3.Z3_mk_int_symbol)(self.raw, index as c_int);
            (self.z3.Z3_mk_const)(self.raw, symbol, sort)
        };
        self.keep(raw)
    }

    fn sort(&mut self, width: u32) -> Result<Object, Fault> {
        let known = self.sorts[width as usize];
        if !known.is_null() {
            return Ok(known);
        }
        // SAFETY: the context is live; a sort is a term, whose reference goes with the context.
        let sort = unsafe { (self.z3.Z3_mk_bv_sort)(self.raw, width as c_uint) };
        self.sorts[width as usize] = self.keep_sort(sort)?;
        Ok(sort)
    }

    fn float_sort(&mut self, width: u32) -> Result<Object, Fault> {
        let (place, make) = match width {
            32 => (0, self.z3.Z3_mk_fpa_sort_32),
            64 => (1, self.z3.Z3_mk_fpa_sort_64),
            _ => return Err(Fault(format!("no floating-point number has {width} bits"))),
        };
        if self.float_sorts[place].is_null() {
            // SAFETY: the context is live.
            let sort = unsafe { make(self.raw) };
            self.float_sorts[place] = self.keep_sort(sort)?;
        }
        Ok(self.float_sorts[place])
    }

    fn keep_sort(&mut self, sort: Object) -> Result<Object, Fault> {
        if sort.is_null() {
            self.refuse_errors()?;
            return Err(Fault("no sort was made".into()));
        }
        // SAFETY: a sort of this context, which is a term to Z3; the reference lasts as long as the context.
        unsafe { (self.z3.Z3_inc_ref)(self.raw, sort) };
        Ok(sort)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.release();
        for solver in [self.integers.solver, self.floats.solver] {
            if !solver.is_null() {
                // SAFETY: gives back the reference `keep_solver` took.
                unsafe { (self.z3.Z3_solver_dec_ref)(self.raw, solver) };
            }
        }
        // SAFETY: made by `new`, deleted once; sorts go with it.
        unsafe { (self.z3.Z3_del_context)(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context::new(Library::open().expect("these tests need libz3-4")).unwrap()
    }

    #[test]
    fn what_is_used_wrongly_is_an_error_and_not_the_end() {
        let mut context = context();
        let byte = context.number(8, 1).unwrap();
        let word = context.number(16, 1).unwrap();
        let Fault(message) = context.binary(context.z3.Z3_mk_bvadd, byte, word).unwrap_err();
        assert!(!message.is_empty());
        let sum = context.binary(context.z3.Z3_mk_bvadd, byte, byte).unwrap();
        assert_ne!(sum, byte);
    }
}
