//! Concolic testing as a strategy of campaigns.
//!
//! [`ConcolicStrategy`] goes on from every input that a campaign keeps: it runs it symbolically, has a heuristic of `cairn-search` choose a
//! branch, and proposes the input that decides it otherwise. Beside a fuzzer each feeds the other through the corpus, which is the hybrid
//! of Majumdar and Sen, *Hybrid Concolic Testing* (ICSE 2007), without any guidance.
//!
//! [`SymbolicTracer`] runs the target for searches of `cairn-concolic`, in campaigns and without.

mod concolic;
mod tracer;

pub use crate::{
    concolic::{ConcolicConfig, ConcolicStrategy, question_budgets},
    tracer::SymbolicTracer,
};
