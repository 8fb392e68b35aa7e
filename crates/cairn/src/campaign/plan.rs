//! What was asked of a campaign, kept with it so that `cairn resume` needs to be told nothing.

use super::{mutant_plan::MutantPlan, seeds_plan::SeedsPlan};
use crate::{failure::Failure, target::TargetArgs};
use cairn_campaign::CampaignConfig;
use cairn_cc::views::Sanitizer;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
};

/// What was asked of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Where the command was given: `cairn.toml` lies there, and paths start there.
    pub directory: PathBuf,
    /// The program and the seeds.
    pub words: Vec<PathBuf>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// How well runs are contained.
    pub sandbox: Option<String>,
    /// Strategies, by name.
    pub strategies: Vec<String>,
    /// The search heuristic of concolic testing, by name; none for the usual one.
    #[serde(default)]
    pub heuristic: Option<String>,
    /// Parts of inputs that may be changed; empty for what seeds consist of.
    pub changes: Vec<String>,
    /// Files of tokens.
    pub dictionaries: Vec<PathBuf>,
    /// Sanitizers that look at inputs that are kept, by name, each once; none in campaigns of earlier versions.
    #[serde(default)]
    sanitizers: Vec<String>,
    /// Whether inputs may have been kept that not all of these have looked at.
    #[serde(default)]
    is_unlooked: bool,
    /// The mutants that are run; none in campaigns without them.
    #[serde(default)]
    pub mutants: Option<MutantPlan>,
    /// How symbolic seeds are found; none in campaigns without them.
    #[serde(default)]
    pub seeds: Option<SeedsPlan>,
    /// The rest.
    pub config: CampaignConfig,
}

impl Plan {
    /// As the target was named on the command line.
    pub fn new(target: &TargetArgs, config: CampaignConfig) -> Result<Self, Failure> {
        Ok(Self {
            directory: env::current_dir()?,
            words: target.words.clone(),
            args: target.args.clone(),
            sandbox: target.sandbox.map(|level| level.to_string()),
            strategies: Vec::new(),
            heuristic: None,
            changes: Vec::new(),
            dictionaries: Vec::new(),
            sanitizers: Vec::new(),
            is_unlooked: false,
            mutants: None,
            seeds: None,
            config,
        })
    }

    /// Has inputs that are kept looked at by sanitizers.
    pub fn set_sanitizers(&mut self, sanitizers: &[Sanitizer]) {
        let each_once: BTreeSet<Sanitizer> = sanitizers.iter().copied().collect();
        self.sanitizers = each_once.iter().map(Sanitizer::to_string).collect();
    }

    /// Has inputs looked at by more sanitizers, those that are kept already first.
    pub fn add_sanitizers(&mut self, more: &[Sanitizer]) -> Result<(), Failure> {
        let before = self.sanitizers()?;
        let all: Vec<Sanitizer> = before.iter().chain(more).copied().collect();
        self.set_sanitizers(&all);
        self.is_unlooked |= self.sanitizers.len() > before.len();
        Ok(())
    }

    /// The plan once sanitizers have looked at everything that is kept; `None` if they have.
    pub fn after_looks(&self) -> Option<Self> {
        self.is_unlooked.then(|| Self { is_unlooked: false, ..self.clone() })
    }

    /// The sanitizers that look at inputs that are kept.
    pub fn sanitizers(&self) -> Result<BTreeSet<Sanitizer>, Failure> {
        self.sanitizers
            .iter()
            .map(|name| name.parse().map_err(|error: String| Failure::usage(error)))
            .collect()
    }

    /// What a command is told to have their build, too: `--sanitize=address,undefined`.
    pub fn sanitize_option(&self) -> String {
        format!("--sanitize={}", self.sanitizers.join(","))
    }

    /// Reads a plan that was kept.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, Failure> {
        serde_json::from_str(text).map_err(|error| {
            let folder = folder.display();
            Failure::usage(format!("the campaign in `{folder}` was begun by another version: {error}"))
                .hint(format!("begin a new one with `{folder}/corpus` as seeds"))
        })
    }

    /// The target as it was named.
    pub fn target(&self) -> Result<TargetArgs, Failure> {
        let sandbox = self.sandbox.as_deref().map(str::parse).transpose();
        Ok(TargetArgs {
            words: self.words.clone(),
            args: self.args.clone(),
            sandbox: sandbox.map_err(Failure::usage)?,
        })
    }
}
