//! `cairn resume`: goes on with a campaign.

use super::run::Limits;
use crate::{
    campaign::{self, Told, plan::Plan, trouble},
    exit_code::Exit,
    failure::Failure,
    screen::Screen,
};
use cairn_cc::views::Sanitizer;
use cairn_model::{Budget, Spent};
use cairn_store::Store;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Go on with a campaign where it stopped, however it stopped
#[derive(Debug, clap::Args)]
pub struct Resume {
    /// The folder of the campaign
    #[arg(value_name = "FOLDER", default_value = "cairn-campaign")]
    folder: PathBuf,
    #[command(flatten)]
    limits: Limits,
    /// Workers (default: as before)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    workers: Option<u16>,
    /// From now on also run inputs on a build with these sanitizers, first all that are kept: address, undefined or both
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    sanitize: Vec<Sanitizer>,
    /// Print events as JSON, one a line
    #[arg(long)]
    json: bool,
}

impl Resume {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let (mut plan, spent) = plan(&self.folder)?;
        let more = self.limits.budget();
        if more != Budget::UNLIMITED {
            plan.config.budget = after(&spent, &more);
        } else if plan.config.budget.is_over(&spent) {
            return Err(Failure::usage("the budget of this campaign is used up")
                .hint("say how much more there is, as in `--for 10m`"));
        }
        if let Some(workers) = self.workers {
            plan.config.workers = workers.into();
        }
        plan.add_sanitizers(&self.sanitize)?;
        let given_in = env::current_dir()?;
        let folder = enter(&plan, &self.folder)?;
        let told = if self.json { Told::Json } else { Told::Lines };
        campaign::start(&plan, &folder, &given_in, told, screen)
    }
}

/// What was asked of the campaign in a folder, and what was spent on it.
pub fn plan(folder: &Path) -> Result<(Plan, Spent), Failure> {
    let path = folder.join("campaign.db");
    let nothing = || {
        let folder = folder.display();
        Failure::usage(format!("`{folder}` holds no campaign"))
            .hint(format!("`cairn run PROGRAM -o {folder}` begins one"))
    };
    if !path.exists() {
        return Err(nothing());
    }
    let failed = |error| trouble::store_failure(&error, folder);
    let store = Store::open(&path).map_err(failed)?;
    let head = store.campaign().map_err(failed)?.ok_or_else(nothing)?;
    let plan = Plan::parse(&head.settings, folder)?;
    let mut spent = Spent::default();
    store.work().map_err(failed)?.values().for_each(|work| spent += *work);
    spent.wall = cairn_campaign::worked(&store, &folder.join("events.jsonl")).map_err(failed)?;
    Ok((plan, spent))
}

/// Goes to where the campaign was begun, and says where its folder lies seen from everywhere.
pub fn enter(plan: &Plan, folder: &Path) -> Result<PathBuf, Failure> {
    let folder = fs::canonicalize(folder)?;
    env::set_current_dir(&plan.directory).map_err(|error| {
        Failure::usage(format!("the campaign was begun in `{}`: {error}", plan.directory.display()))
    })?;
    Ok(folder)
}

/// `more` beyond what was spent.
fn after(spent: &Spent, more: &Budget) -> Budget {
    Budget {
        wall: more.wall.map(|limit| limit + spent.wall),
        cpu: more.cpu.map(|limit| limit + spent.cpu),
        inputs: more.inputs.map(|limit| limit + spent.inputs),
        target_runs: more.target_runs.map(|limit| limit + spent.target_runs),
        mutant_runs: more.mutant_runs.map(|limit| limit + spent.mutant_runs),
        new_paths: more.new_paths.map(|limit| limit + spent.new_paths),
    }
}
