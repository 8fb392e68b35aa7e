//! How the strategy `csefuzz` finds its seeds.

use crate::{duration, failure::Failure};
use cairn_model::Budget;
use cairn_seeds::{Begins, Bound, Criterion, Pick};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How a user chooses symbolic seeds.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Symbolic seeds (with the strategy csefuzz)")]
pub struct SeedsArgs {
    /// What seeds are to cover: none (every candidate is a seed), decision, condition, path or decision+kills [default: path]
    #[arg(long, value_name = "NAME")]
    criterion: Option<Criterion>,
    /// How long candidates are looked for at most, all instalments together [default: a quarter of the time]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_some)]
    explore: Option<Duration>,
    /// The most candidates [default: 40000, or a quarter of the inputs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    candidates: Option<u64>,
    /// Which of the candidates that cover the same is a seed: cheapest or random [default: cheapest]
    #[arg(long, value_name = "HOW")]
    pick: Option<Pick>,
    /// Look for candidates before fuzzing, as in the paper, and not only when the fuzzer finds less and less
    #[arg(long)]
    candidates_first: bool,
}

/// How symbolic seeds are found; kept with the campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedsPlan {
    criterion: String,
    explore: Option<Duration>,
    candidates: Option<u64>,
    picks_randomly: bool,
    #[serde(default)]
    candidates_first: bool,
}

/// Candidates, where nothing else limits them.
pub const MOST_CANDIDATES: u64 = 40_000;

/// Time, where nothing limits a campaign.
const USUAL_TIME: Duration = Duration::from_secs(60);

/// What part of a campaign goes to candidates.
const PART: u32 = 4;

impl SeedsArgs {
    /// Whether anything was said about seeds.
    pub fn is_given(&self) -> bool {
        self.criterion.is_some()
            || self.explore.is_some()
            || self.candidates.is_some()
            || self.pick.is_some()
            || self.candidates_first
    }

    /// As a plan.
    pub fn plan(&self) -> SeedsPlan {
        SeedsPlan {
            criterion: self.criterion.unwrap_or(Criterion::Path).to_string(),
            explore: self.explore,
            candidates: self.candidates,
            picks_randomly: self.pick == Some(Pick::Random),
            candidates_first: self.candidates_first,
        }
    }
}

impl SeedsPlan {
    /// What counts as covered.
    pub fn criterion(&self) -> Result<Criterion, Failure> {
        self.criterion.parse().map_err(Failure::usage)
    }

    /// Which candidate stands for others.
    pub fn pick(&self) -> Pick {
        if self.picks_randomly { Pick::Random } else { Pick::Cheapest }
    }

    /// Who has the first turn.
    pub fn begins(&self) -> Begins {
        if self.candidates_first { Begins::Search } else { Begins::Fuzzer }
    }

    /// When one of some workers looks for candidates no more, in a campaign with this budget.
    pub fn bound(&self, budget: &Budget, n_workers: u32) -> Bound {
        let n_workers = n_workers.max(1);
        let time = budget.wall.or(budget.cpu.map(|cpu| cpu / n_workers)).map(|time| time / PART);
        let inputs = budget.inputs.or(budget.target_runs).map(|n| n / u64::from(PART));
        let candidates = self.candidates.or(inputs).unwrap_or(MOST_CANDIDATES);
        Bound {
            candidates: candidates.div_ceil(u64::from(n_workers)).max(1),
            wall: self.explore.or(time).or((*budget == Budget::UNLIMITED).then_some(USUAL_TIME)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_at_most_goes_to_candidates() {
        let plan = SeedsArgs::default().plan();
        let timed = Budget { wall: Some(Duration::from_secs(60)), ..Budget::UNLIMITED };
        let bound = plan.bound(&timed, 1);
        assert_eq!((bound.wall, bound.candidates), (Some(Duration::from_secs(15)), MOST_CANDIDATES));
        let counted = Budget { inputs: Some(1000), ..Budget::UNLIMITED };
        assert_eq!(plan.bound(&counted, 1), Bound { candidates: 250, wall: None });
        assert_eq!(plan.bound(&counted, 4), Bound { candidates: 63, wall: None });
        assert_eq!(plan.bound(&Budget::UNLIMITED, 2).wall, Some(USUAL_TIME));
        let cpu = Budget { cpu: Some(Duration::from_secs(60)), ..Budget::UNLIMITED };
        assert_eq!(plan.bound(&cpu, 3).wall, Some(Duration::from_secs(5)));
    }

    #[test]
    fn a_plan_survives_being_kept() {
        let args = SeedsArgs { criterion: Some(Criterion::DecisionKills), ..SeedsArgs::default() };
        assert!(args.is_given() && !SeedsArgs::default().is_given());
        let kept: SeedsPlan = serde_json::from_str(&serde_json::to_string(&args.plan()).unwrap()).unwrap();
        assert_eq!(kept.criterion().unwrap(), Criterion::DecisionKills);
    }
}
