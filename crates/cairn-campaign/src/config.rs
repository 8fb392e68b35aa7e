//! What a campaign is to do.

use cairn_model::Budget;
use serde::{Deserialize, Serialize};

/// What a campaign is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CampaignConfig {
    /// Where chances come from. Default: 1.
    pub seed: u64,
    /// Workers, each with a core. Default: 1.
    pub workers: usize,
    /// When it ends, all workers and earlier parts of the campaign together. Default: never.
    pub budget: Budget,
    /// Inputs a strategy tries before what it proposes is judged and others are heard. Default: 2,000.
    ///
    /// A step also ends after [`CampaignConfig::step_wall_ms`], unless the budget is one of work.
    pub step_inputs: u64,
    /// Milliseconds a step may take. Default: 500.
    pub step_wall_ms: u64,
    /// Bytes an input may have in all its regions. Default: 1 MiB.
    pub max_size: u64,
}

impl Default for CampaignConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            workers: 1,
            budget: Budget::UNLIMITED,
            step_inputs: 2_000,
            step_wall_ms: 500,
            max_size: 1 << 20,
        }
    }
}
