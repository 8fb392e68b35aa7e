//! The trait.

use crate::{candidate::Candidate, finding::Finding, view::CampaignView};
use cairn_executor::ExecutorError;
use cairn_model::Budget;

/// A technique that proposes inputs.
pub trait Strategy: Send {
    /// A stable name for logs, reports and `--strategy`.
    fn name(&self) -> &'static str;

    /// Works for at most `budget` and returns candidates, best first.
    ///
    /// None returned within a budget that is not over means that it has nothing to propose for now.
    fn step(&mut self, view: &mut CampaignView<'_>, budget: &Budget)
    -> Result<Vec<Candidate>, StrategyError>;

    /// Tells the strategy what became of a candidate, its own or another's.
    fn observe(&mut self, finding: &Finding);

    /// What a person should know of how it works on this target. The campaign tells each text once.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Why a strategy could not go on. Its worker starts it again.
#[derive(Debug, thiserror::Error)]
pub enum StrategyError {
    /// A run could not be carried out.
    #[error("a run could not be carried out")]
    Run(#[from] ExecutorError),
    /// It cannot work on this target, now or later.
    #[error("{strategy} cannot work on this target: {reason}")]
    Unfit {
        /// Which.
        strategy: &'static str,
        /// Why.
        reason: String,
    },
}
