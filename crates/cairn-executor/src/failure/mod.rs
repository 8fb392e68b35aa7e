//! Names failures by what went wrong and where.
//!
//! A [`FailureExplainer`] runs an input that is known to fail once more, in a fresh process that notes its registers and
//! its stack when the fatal signal arrives ([`cairn_abi::stack`]), or, when it hangs, at the end of its time. Everything
//! else happens here, on a copy: the stack is unwound by the tables of the program and its libraries, and addresses
//! become functions and lines, inlined ones too.
//!
//! ```text
//!   run ──► samples ──► unwind ──► symbols ──► frames ─┐
//!     └───► standard error ──► message ────────────────┴──► kind, signature, stack
//! ```
//! The verdict is not made here: it belongs to a run without handlers. Where the stack cannot be told (the program
//! replaced the handlers, it is no build of ours, there is no `/proc`), it is empty, and the kind still stands.
//!
//! What the process tells is not believed: files it names are opened only if they are regular, lengths are cut, and a
//! stack that does not grow ends there.

mod explain;
mod frames;
mod image;
mod kind;
mod message;
mod modules;
mod samples;
mod sanitizer;
mod signature;
mod unwind;

pub use self::{
    explain::{Explained, FailureConfig, FailureExplainer},
    sanitizer::is_sanitizer_report,
};
