//! `cairn run`: a campaign from the beginning.

use crate::{
    campaign::{
        self, Told,
        mutant_plan::MutantArgs,
        plan::Plan,
        seeds_plan::{SeedsArgs, SeedsPlan},
        trouble,
    },
    duration,
    exit_code::Exit,
    failure::Failure,
    screen::Screen,
    target::TargetArgs,
};
use cairn_campaign::CampaignConfig;
use cairn_cc::views::Sanitizer;
use cairn_model::Budget;
use cairn_search::Heuristic;
use cairn_seeds::Criterion;
use std::{
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

/// Find inputs that reach new branches, and every crash and hang on the way
#[derive(Debug, clap::Args)]
pub struct Run {
    #[command(flatten)]
    target: TargetArgs,
    /// The folder of the campaign
    #[arg(long, short, value_name = "FOLDER", default_value = "cairn-campaign")]
    output: PathBuf,
    #[command(flatten)]
    limits: Limits,
    /// Workers (default: one for each core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    workers: Option<u16>,
    /// Where chances come from: with one worker and a limit of work, the same seed decides the same
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Techniques, with commas between them: fuzz, mu2, concolic, hybrid-simple, csefuzz
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "fuzz")]
    strategy: Vec<String>,
    /// What `concolic` and `csefuzz` decide otherwise next: dfs, bfs, random-branch, random-path, cfds, cgs, generational or klee
    /// (default: generational)
    #[arg(long, value_name = "NAME")]
    heuristic: Option<Heuristic>,
    /// Parts of inputs that may be changed, with commas between them: arguments, stdin, files, environment, variables,
    /// buffer (default: what carries raw seeds; with whole inputs as seeds, all)
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    change: Vec<String>,
    /// A file of tokens, as AFL++ and libFuzzer read them; may be given several times
    #[arg(long, value_name = "FILE")]
    dict: Vec<PathBuf>,
    /// Also run every input that is kept, and a sample of the others, on a build with sanitizers, made from the sources: address,
    /// undefined or both
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    sanitize: Vec<Sanitizer>,
    #[command(flatten)]
    mutants: MutantArgs,
    #[command(flatten)]
    seeds: SeedsArgs,
    /// Print events as JSON, one a line
    #[arg(long)]
    json: bool,
}

/// When a campaign ends.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Limits {
    /// Stop after this long, such as `60s` or `10m`
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse_some)]
    wall: Option<Duration>,
    /// Stop after this much processor time, the program's included
    #[arg(long, value_name = "TIME", value_parser = duration::parse_some)]
    cpu: Option<Duration>,
    /// Stop after so many inputs were tried
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    inputs: Option<u64>,
    /// Stop after so many runs of the program
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// Stop after so many paths nobody took before
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    paths: Option<u64>,
}

impl Limits {
    /// As a budget.
    pub fn budget(&self) -> Budget {
        Budget {
            wall: self.wall,
            cpu: self.cpu,
            inputs: self.inputs,
            target_runs: self.runs,
            mutant_runs: None,
            new_paths: self.paths,
        }
    }
}

impl Run {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let is_there = campaign::holds_campaign(&self.output);
        if is_there.map_err(|error| trouble::store_failure(&error, &self.output))? {
            let folder = self.output.display();
            return Err(Failure::usage(format!("`{folder}` holds a campaign already"))
                .hint(format!("`cairn resume {folder}` goes on with it; `-o` chooses another folder")));
        }
        if self.target.words.iter().any(|word| is_same_folder(word, &self.output)) {
            let folder = self.output.display();
            return Err(Failure::usage(format!(
                "the campaign would be written among the seeds in `{folder}`"
            ))
            .hint("`-o` chooses another folder"));
        }
        let n_cores = thread::available_parallelism().map_or(1, usize::from);
        let config = CampaignConfig {
            seed: self.seed,
            workers: self.workers.map_or(n_cores, usize::from),
            budget: self.limits.budget(),
            ..CampaignConfig::default()
        };
        let mut plan = Plan::new(&self.target, config)?;
        plan.strategies = self.strategy.clone();
        let is_concolic = |name: &String| ["concolic", "hybrid-simple", "csefuzz"].contains(&name.as_str());
        if self.heuristic.is_some() && !self.strategy.iter().any(is_concolic) {
            return Err(Failure::usage("a heuristic was chosen, but no strategy searches by one")
                .hint("add `--strategy concolic`, `--strategy hybrid-simple` or `--strategy csefuzz`"));
        }
        plan.heuristic = self.heuristic.map(|heuristic| heuristic.to_string());
        plan.changes = self.change.clone();
        plan.dictionaries = self.dict.clone();
        plan.set_sanitizers(&self.sanitize);
        plan.seeds = match self.strategy.iter().any(|name| name == "csefuzz") {
            true => Some(self.seeds.plan()),
            false if self.seeds.is_given() => {
                return Err(Failure::usage("it was said how seeds are found, but no strategy looks for any")
                    .hint("add `--strategy csefuzz`"));
            }
            false => None,
        };
        let criterion = plan.seeds.as_ref().map(SeedsPlan::criterion).transpose()?;
        let has_mutants =
            self.strategy.iter().any(|name| name == "mu2") || criterion == Some(Criterion::DecisionKills);
        plan.mutants = match has_mutants {
            true => Some(self.mutants.plan()?),
            false if self.mutants.is_given() => {
                return Err(Failure::usage("mutants were chosen, but no strategy runs any")
                    .hint("add `--strategy mu2`"));
            }
            false => None,
        };
        let told = if self.json { Told::Json } else { Told::Lines };
        campaign::start(&plan, &self.output, &plan.directory, told, screen)
    }
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
