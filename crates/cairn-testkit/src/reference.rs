//! Coverage as independent tools see it, to compare ours with.
//!
//! Two builds by plain clang: one for `llvm-cov gcov` (executed lines), one for source-based coverage (branch
//! directions and MC/DC decisions). Neither shares anything with Cairn but the source and the preprocessing. Both
//! keep their counters when the program crashes.

mod collect;
mod compare;

pub use collect::{ReferenceBuild, ReferenceCoverage, compile_flush, reference_flags};
pub use compare::{Difference, compare};
