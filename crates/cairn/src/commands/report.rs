//! `cairn report`: what a campaign did, for people.

use super::resume;
use crate::{
    campaign::{history::History, mutant_history::MutantHistory},
    duration,
    exit_code::Exit,
    failure::Failure,
    mutants::Mutants,
    screen::{Screen, count},
    target::{Subject, Wanted},
};
use serde::Serialize;
use std::path::PathBuf;

/// Write the report of a campaign, also of one that was killed or is at work
#[derive(Debug, clap::Args)]
pub struct Report {
    /// The folder of the campaign
    #[arg(value_name = "FOLDER", default_value = "cairn-campaign")]
    folder: PathBuf,
    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,
}

/// The figures, for programs.
#[derive(Serialize)]
struct Figures {
    format: u32,
    report: PathBuf,
    worked_ms: u64,
    n_branches_reached: usize,
    n_branches: usize,
    n_entries: usize,
    n_inputs: u64,
    n_target_runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_mutants: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_killed: Option<usize>,
    failures: Vec<Failing>,
}

#[derive(Serialize)]
struct Failing {
    signature: String,
    kind: String,
    stack: Vec<String>,
    file: Option<PathBuf>,
    replay: Option<String>,
}

impl Report {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let (plan, _) = resume::plan(&self.folder)?;
        let folder = resume::enter(&plan, &self.folder)?;
        let set = plan.mutants.as_ref().map(|mutants| mutants.set.clone());
        let wanted = Wanted { mutants: set, ..Wanted::USUAL };
        let subject = Subject::open(&plan.target()?, &wanted, &|text| screen.progress(text))?;
        let mutants = plan.mutants.as_ref().map(|_| Mutants::of(&subject)).transpose()?;
        let history = History::read(&folder, &plan, &subject, mutants.as_ref())?;
        let report = history.write_report(&folder)?;
        let spent = history.spent();
        let figures = Figures {
            format: 1,
            report,
            worked_ms: spent.wall.as_millis() as u64,
            n_branches_reached: history.n_reached(),
            n_branches: 2 * history.map.conditions.len(),
            n_entries: history.entries.len(),
            n_inputs: spent.inputs,
            n_target_runs: spent.target_runs,
            n_mutants: history.mutants.as_ref().map(|mutants| mutants.n_mutants),
            n_killed: history.mutants.as_ref().map(MutantHistory::n_killed),
            failures: history.failures.into_iter().map(Failing::from).collect(),
        };
        screen.result(&match self.json {
            true => serde_json::to_string_pretty(&figures).expect("figures are always JSON"),
            false => format!(
                "{} of {} reached by {} in {}, {}\nthe report is `{}`",
                figures.n_branches_reached,
                count(figures.n_branches, "branch"),
                count(figures.n_entries, "input"),
                duration::show(spent.wall),
                crate::campaign::ways_to_fail(figures.failures.len()),
                figures.report.display(),
            ),
        });
        Ok(Exit::Done)
    }
}

impl From<crate::campaign::history::FailingInput> for Failing {
    fn from(failing: crate::campaign::history::FailingInput) -> Self {
        Self {
            signature: failing.failure.signature,
            kind: failing.failure.kind,
            stack: failing.failure.stack.iter().map(ToString::to_string).collect(),
            file: failing.file,
            replay: failing.replay,
        }
    }
}
