//! `cairn report`: what a campaign did, for people.

use super::resume;
use crate::{
    campaign::{history::History, ways_to_fail},
    duration,
    exit_code::Exit,
    failure::Failure,
    mutants::Mutants,
    report::campaign,
    screen::{Screen, count},
    target::{Subject, Wanted},
};
use std::path::PathBuf;

/// Write the report of a campaign, also of one that was killed or is at work
#[derive(Debug, clap::Args)]
pub struct Report {
    /// The folder of the campaign
    #[arg(value_name = "FOLDER", default_value = "cairn-campaign")]
    folder: PathBuf,
    /// Print all that the report shows as one JSON object
    #[arg(long)]
    json: bool,
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
        screen.result(&match self.json {
            true => campaign::render(&history, &report),
            false => format!(
                "{} of {} reached by {} in {}, {}\nthe report is `{}`",
                history.n_reached(),
                count(2 * history.map.conditions.len(), "branch"),
                count(history.entries.len(), "input"),
                duration::show(history.spent().wall),
                ways_to_fail(history.failures.len()),
                report.display(),
            ),
        });
        Ok(Exit::Done)
    }
}
