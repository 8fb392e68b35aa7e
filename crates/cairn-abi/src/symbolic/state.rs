//! How labels get from a call to the function that is called, and back.
//!
//! A caller names the function it calls; only that function takes the labels. Code that is not instrumented names nobody, so
//! a callback from it never sees labels that were meant for another.

/// The runtime's variable of type [`CallState`].
pub const CALL_STATE_SYMBOL: &str = "cairn_symbolic_state";

/// The most labels of the arguments of one call; those beyond are concrete.
pub const MAX_ARGUMENTS: usize = 64;

/// The most labels of one result.
pub const MAX_RESULTS: usize = 8;

/// In place of a function that has returned: control came back behind a `setjmp`, whichever it was, with a value that has a
/// label.
pub const JUMPED: u64 = 1;

/// Bytes behind a pointer that are looked at to see whether a function that is not followed is given any with a label.
/// Short strings of C++ lie behind the first 16 bytes of their objects.
pub const LOOKED_AT: u64 = 32;

/// Bytes behind a pointer that the result of such a function is taken to depend on at most.
pub const MOST_BYTES: u64 = 256;

/// What is on the way.
#[repr(C, align(64))]
pub struct CallState {
    /// The function that is called, or 0 when no argument has a label.
    pub callee: u64,
    /// The function that has returned a value with a label, or 0.
    pub returned: u64,
    /// Not 0 when conditions without labels are noted too.
    pub notes_all: u32,
    /// Arguments with labels or without, the variable ones included.
    pub n_arguments: u32,
    /// Labels of results.
    pub results: [u32; MAX_RESULTS],
    /// Labels of arguments.
    pub arguments: [u32; MAX_ARGUMENTS],
    /// How each argument is passed, a [`Passed`] as a number.
    pub passed: [u8; MAX_ARGUMENTS],
    /// Where arguments lie that are passed as copies in memory.
    pub copies: [u64; MAX_ARGUMENTS],
}

/// How an argument is passed to a function with variable arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Passed {
    /// In a register for integers, as long as there are any.
    Integer = 0,
    /// In a register for floating-point numbers, likewise.
    Float = 1,
    /// In memory, in 16 bytes.
    Memory16 = 2,
}

/// Labels of variable arguments, kept in the frame of the function until it looks at them.
#[repr(C)]
pub struct VariableArguments {
    /// How many there are.
    pub count: u32,
    /// Their labels.
    pub labels: [u32; MAX_ARGUMENTS],
    /// How they are passed.
    pub passed: [u8; MAX_ARGUMENTS],
}
