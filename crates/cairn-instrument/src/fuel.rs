//! Fuel: the budget of steps by which hangs are told.
//!
//! The budget is one word, [`FUEL_SYMBOL`](cairn_abi::view::FUEL_SYMBOL). A step counts it down and ends the run when
//! nothing is left:
//!
//! ```text
//!   %left = load i64, ptr @__cairn_fuel
//!   %next = sub i64 %left, 1
//!   store i64 %next, ptr @__cairn_fuel
//!   %is_out = icmp eq i64 %next, 0
//!   br i1 %is_out, label %out, label %on     ; hardly ever taken
//! ```
//! which the code generator turns into `dec` and `je`.
//!
//! [`placement`] decides on plain data where steps go, and promises that no execution goes on forever without taking
//! one. [`insert()`] carries that out. Fuel is placed after optimisation, so that inlined and vectorised code does not
//! pay twice; the same input therefore uses the same fuel again in one view, but not in another.
//!
//! What the promise leaves out: code without bitcode, and functions marked `naked`. The wall clock is for those.

mod insert;
pub mod placement;
pub(crate) mod split;

pub use insert::insert;

/// How much of a program uses fuel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fuel {
    /// Recursion and all loops but those innermost ones that call nothing, where a step would cost the most.
    WhereCallsAre,
    /// Recursion and all loops. Innermost loops that call nothing keep their fuel in a register meanwhile.
    Everywhere,
}
