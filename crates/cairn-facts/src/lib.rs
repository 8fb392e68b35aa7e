//! What the front end knows about a translation unit, read with libclang.
//!
//! [`extract`] parses one unit with the arguments its compile had and returns
//! [`UnitFacts`]: for every function outside system headers its expressions, its
//! conditions and decisions, and its switches. Conditions and switches come in the order in which clang emits code
//! for them, and say what that code looks like at `-O0`, because `cairn-instrument` joins them to bitcode by order
//! and place.
//!
//! Data moves through the modules from the outside in: `clang` opens libclang and wraps its cursors safely;
//! `source` turns its locations into places and text; `tree` copies a function body into plain nodes, whose
//! `shapes` say how they are evaluated and `order` when; `expressions`, `conditions` and `switches` read facts off
//! that tree, `variables` and `records` what its names stand for, and `macros` which expressions have a text;
//! `functions` walks the declarations and puts them together.
//!
//! A template is read as it is written, and once for each instance that clang makes of it, in which types and constants
//! are known; `expansions` tells where an instance has other expressions than the text.
//!
//! What a condition is, we take from clang's source-based coverage, and the tests compare with `llvm-cov`. We list
//! less in one respect: operands that are never evaluated (`sizeof (a && b)`, the arms `_Generic` does not choose)
//! have branch regions in clang's coverage but no code, so they have no facts here.
//!
//! libclang hides many kinds of expression and the positions of operators. Where it does, we look at the source
//! text; inside macros, where the text is elsewhere, everything stands at the macro's use anyway.

#![expect(non_upper_case_globals, reason = "clang-sys keeps the names of libclang")]

mod addresses;
mod arguments;
mod clang;
mod conditions;
mod constants;
mod error;
mod expansions;
mod expressions;
mod folding;
mod functions;
mod macros;
mod order;
mod records;
mod shapes;
mod skips;
mod source;
mod switches;
mod traits;
mod tree;
mod types;
mod variables;

pub use crate::error::FactsError;

use cairn_model::facts::UnitFacts;
use std::{path::Path, thread};

/// Enough for the deepest nesting clang itself can parse.
const STACK_BYTES: usize = 256 << 20;

/// Parses the unit that `args` compile in `directory` and returns the facts of its functions.
///
/// `args` are clang's own, the source file among them and response files already expanded; what would write
/// files or print is ignored. A compile by `clang++` has to say `--driver-mode=g++` if its source's name does not
/// tell. They should be those of the bitcode, `-O0` included: headers define other macros when optimising.
/// Fails if libclang 19 cannot be opened or the unit has errors.
pub fn extract(args: &[String], directory: &Path) -> Result<UnitFacts, FactsError> {
    let library = clang::Library::open()?;
    // Generated sources nest deeper than a usual stack holds, and we follow the nesting.
    thread::scope(|scope| {
        let worker = thread::Builder::new().name("facts".into()).stack_size(STACK_BYTES);
        let handle = worker
            .spawn_scoped(scope, || {
                let unit = clang::Unit::parse(library, &arguments::for_parsing(args, directory))?;
                Ok(functions::of_unit(&unit, directory))
            })
            .map_err(FactsError::Thread)?;
        handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
