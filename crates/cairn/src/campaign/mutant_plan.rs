//! Which mutants a campaign runs, and how.

use crate::{
    failure::Failure,
    mutants::{Mutants, choice, operator_set},
};
use cairn_fuzz::{MutantFilter, MutantsConfig, ShareConfig};
use cairn_mutants::{analysis::MutantSet, selection::Selection};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::PathBuf};

/// How a user chooses the mutants of a campaign.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Mutants (with the strategy mu2)")]
pub struct MutantArgs {
    /// The set of operators that makes mutants: compact, deminer, mu2, all, or operators by name [default: mu2]
    #[arg(long = "mutants", value_name = "SET")]
    set: Option<String>,
    /// Only mutants in this file or folder
    #[arg(long, value_name = "PATH")]
    mutant_file: Vec<String>,
    /// Only mutants in this function
    #[arg(long, value_name = "NAME")]
    mutant_function: Vec<String>,
    /// Only mutants on this line, or on lines from one to another: `sort.c:12`, `sort.c:10-20`
    #[arg(long, value_name = "FILE:LINE")]
    mutant_line: Vec<String>,
    /// Only mutants on lines that a unified diff adds; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    mutants_in_diff: Option<PathBuf>,
    /// At most this many mutants, chosen by chance
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    mutant_sample: Option<u64>,
    /// The part of the work that goes to mutants: `adaptive` (what it earns), `all` (every input, as in the paper), or a
    /// percentage such as `20%` [default: adaptive]
    #[arg(long, value_name = "SHARE")]
    mutant_share: Option<String>,
    /// Leave out mutants that might be killed, which is quicker and not sound: `least-run=K` or `weak`; at the end of the
    /// campaign everything is run
    #[arg(long, value_name = "FILTER")]
    mutant_filter: Option<String>,
    /// Also run mutants that make no difference where they are reached, to see what leaving them out saves
    #[arg(long)]
    no_mutant_pruning: bool,
    /// End without running everything once more, and without `minimal/`
    #[arg(long)]
    no_recheck: bool,
}

/// Which mutants a campaign runs, and how; kept with the campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutantPlan {
    /// The set of operators.
    pub set: String,
    files: Vec<String>,
    functions: Vec<String>,
    lines: Vec<String>,
    /// The text of a diff.
    diff: Option<String>,
    sample: Option<u64>,
    share: String,
    filter: String,
    prunes: bool,
    /// Whether everything is run once more at the end.
    pub rechecks: bool,
}

/// The set unless another is named.
const DEFAULT_SET: &str = "mu2";

impl MutantArgs {
    /// Whether anything was said about mutants.
    pub fn is_given(&self) -> bool {
        self.set.is_some()
            || !self.mutant_file.is_empty()
            || !self.mutant_function.is_empty()
            || !self.mutant_line.is_empty()
            || self.mutants_in_diff.is_some()
            || self.mutant_sample.is_some()
            || self.mutant_share.is_some()
            || self.mutant_filter.is_some()
            || self.no_mutant_pruning
            || self.no_recheck
    }

    /// As a plan; what is wrong is told before anything is built.
    pub fn plan(&self) -> Result<MutantPlan, Failure> {
        let plan = MutantPlan {
            set: self.set.clone().unwrap_or_else(|| DEFAULT_SET.into()),
            files: self.mutant_file.clone(),
            functions: self.mutant_function.clone(),
            lines: self.mutant_line.clone(),
            diff: self.mutants_in_diff.as_deref().map(choice::diff_text).transpose()?,
            sample: self.mutant_sample,
            share: self.mutant_share.clone().unwrap_or_else(|| "adaptive".into()),
            filter: self.mutant_filter.clone().unwrap_or_else(|| "none".into()),
            prunes: !self.no_mutant_pruning,
            rechecks: !self.no_recheck,
        };
        operator_set(&plan.set)?;
        plan.config()?;
        plan.selection()?;
        Ok(plan)
    }
}

impl MutantPlan {
    /// How mutants are run.
    pub fn config(&self) -> Result<MutantsConfig, Failure> {
        Ok(MutantsConfig { share: share(&self.share)?, prunes: self.prunes, filter: filter(&self.filter)? })
    }

    /// Whether some mutants that might be killed are left out on the way.
    pub fn is_unsound(&self) -> bool {
        self.filter != "none"
    }

    /// The mutants that count.
    pub fn select(&self, mutants: &Mutants) -> Result<MutantSet, Failure> {
        let selected = self.selection()?.select(&mutants.map, &mutants.table).map_err(|error| {
            Failure::nothing(format!("no mutant is selected: {error}"))
                .hint("`cairn mutants` lists all of them")
        })?;
        Ok(selected.into_iter().collect())
    }

    fn selection(&self) -> Result<Selection, Failure> {
        let lines = self.lines.iter().map(|text| choice::lines(text).map_err(Failure::usage));
        let diff = self.diff.as_ref().map(|text| text.parse());
        Ok(Selection {
            operators: None,
            files: self.files.clone(),
            functions: self.functions.clone(),
            lines: lines.collect::<Result<_, _>>()?,
            diff: diff.transpose().map_err(|error| Failure::usage(format!("the diff: {error}")))?,
            reached: None,
            mutants: BTreeSet::new(),
            per_line: None,
            total: self.sample.map(|n| usize::try_from(n).unwrap_or(usize::MAX)),
            seed: 0,
        })
    }
}

fn share(text: &str) -> Result<ShareConfig, Failure> {
    let percent =
        |text: &str| text.strip_suffix('%')?.parse::<f64>().ok().filter(|n| (0.0..100.0).contains(n));
    match text {
        "adaptive" => Ok(ShareConfig::Adaptive),
        "all" => Ok(ShareConfig::Everything),
        _ => percent(text).map(|percent| ShareConfig::Fixed(percent / 100.0)).ok_or_else(|| {
            Failure::usage(format!("`{text}` is no share of the work"))
                .hint("write `adaptive`, `all`, or a percentage such as `20%`")
        }),
    }
}

fn filter(text: &str) -> Result<MutantFilter, Failure> {
    let least = || text.strip_prefix("least-run=")?.parse::<usize>().ok().filter(|n| *n > 0);
    match text {
        "none" => Ok(MutantFilter::Nothing),
        "weak" => Ok(MutantFilter::Weak),
        _ => least().map(MutantFilter::LeastRun).ok_or_else(|| {
            Failure::usage(format!("`{text}` leaves out no mutants"))
                .hint("write `least-run=20` for the 20 that were run least often, or `weak` to run each once")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_filters_are_read_or_refused() {
        assert_eq!(share("all").unwrap(), ShareConfig::Everything);
        assert_eq!(share("25%").unwrap(), ShareConfig::Fixed(0.25));
        assert_eq!(filter("least-run=7").unwrap(), MutantFilter::LeastRun(7));
        for wrong in ["", "100%", "-1%", "0.2", "some"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
        for wrong in ["least-run", "least-run=0", "strong"] {
            assert!(filter(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_plan_survives_being_kept() {
        let args = MutantArgs { mutant_line: vec!["a.c:3-5".into()], ..MutantArgs::default() };
        assert!(args.is_given() && !MutantArgs::default().is_given());
        let plan = args.plan().unwrap();
        let kept: MutantPlan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
        assert_eq!((kept == plan, &*kept.set), (true, "mu2"));
    }
}
