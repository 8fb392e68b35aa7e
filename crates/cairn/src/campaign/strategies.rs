//! Strategies by name.

use super::{mutant_plan::MutantPlan, plan::Plan};
use crate::{
    failure::{Failure, chain},
    target::Subject,
};
use cairn_concolic::{
    Freedoms,
    search::{Change, Claims, Memory, SolvedBefore, Traces},
};
use cairn_fuzz::{Dictionary, FuzzConfig, FuzzStrategy, MutantsConfig, RegionKind};
use cairn_hybrid::{ConcolicConfig, ConcolicStrategy};
use cairn_model::Input;
use cairn_search::Heuristic;
use cairn_seeds::{CseFuzzStrategy, ExplorationConfig, SeedsConfig};
use cairn_strategy::Strategy;
use std::{fs, path::Path};

/// Makes the strategies of workers.
pub struct Strategies {
    names: Vec<String>,
    mutants: MutantsConfig,
    fuzz: FuzzConfig,
    /// Of any worker; each has its own share of [`Self::claims`].
    concolic: ConcolicConfig,
    /// Likewise.
    seeds: Option<SeedsConfig>,
    claims: Claims,
    n_workers: u32,
}

/// What may be asked for: a name, and what it stands for.
const STRATEGIES: [(&str, &[&str]); 5] = [
    ("fuzz", &["fuzz"]),
    ("mu2", &["mu2"]),
    ("concolic", &["concolic"]),
    ("hybrid-simple", &["fuzz", "concolic"]),
    ("csefuzz", &["csefuzz"]),
];

/// Nodes and steps of runs that concolic testing keeps: a few hundred megabytes.
const KEPT_RUNS: usize = 2 << 20;

impl Strategies {
    /// As planned. What seeds consist of may be changed, and nothing else: of raw bytes the bytes.
    pub fn new(plan: &Plan, subject: &Subject, seeds: &[Input]) -> Result<Self, Failure> {
        let names = parts(&plan.strategies)?;
        let mut fuzz = FuzzConfig::of_template(&subject.template);
        if !plan.changes.is_empty() {
            fuzz.regions = plan.changes.iter().map(|name| region(name)).collect::<Result<_, _>>()?;
            // Whoever asks for other parts wants them changed in all inputs.
            fuzz.raw = None;
        } else if seeds.iter().any(|seed| subject.template.raw(seed).is_none()) {
            // Whole inputs: all that they are made of.
            fuzz.regions = RegionKind::ALL.to_vec();
        } else if !subject.template.base.variables.is_empty() {
            // They are declared to be changed, which leaves no input that is raw bytes.
            fuzz.raw = None;
        }
        for path in &plan.dictionaries {
            fuzz.dictionary.extend(&dictionary(path)?);
        }
        let mutants = plan.mutants.as_ref().map(MutantPlan::config).transpose()?.unwrap_or_default();
        let may_change = fuzz.clone();
        let claims = Claims::default();
        let concolic = ConcolicConfig {
            heuristic: heuristic(plan)?,
            change: Change::only(move |new, old| may_change.may_become(old, new)),
            memory: Memory { traces: Traces::with_capacity(KEPT_RUNS), ..Memory::default() },
            before: SolvedBefore::default(),
            share: claims.share(0),
        };
        let seeds = seeds_config(plan, &concolic)?;
        if let Some(seeds) = &seeds {
            fuzz.freedoms = seeds.freedoms.clone();
        }
        Ok(Self {
            names,
            mutants,
            fuzz,
            concolic,
            seeds,
            claims,
            n_workers: plan.config.workers.max(1) as u32,
        })
    }

    /// Those of one worker.
    pub fn of_worker(&self, worker: usize) -> Vec<Box<dyn Strategy>> {
        let config = FuzzConfig { worker: (worker as u32, self.n_workers), ..self.fuzz.clone() };
        let concolic = ConcolicConfig { share: self.claims.share(worker), ..self.concolic.clone() };
        let share = self.claims.share(worker);
        let strategy = |name: &String| -> Box<dyn Strategy> {
            match (name.as_str(), &self.seeds) {
                ("csefuzz", Some(seeds)) => {
                    let exploration =
                        ExplorationConfig { share: Some(share.clone()), ..seeds.exploration.clone() };
                    let fuzz = Box::new(FuzzStrategy::new(config.clone()));
                    Box::new(CseFuzzStrategy::new(SeedsConfig { exploration, ..seeds.clone() }, fuzz))
                }
                ("mu2", _) => Box::new(FuzzStrategy::with_mutants(config.clone(), self.mutants.clone())),
                ("concolic", _) => Box::new(ConcolicStrategy::new(concolic.clone())),
                _ => Box::new(FuzzStrategy::new(config.clone())),
            }
        };
        self.names.iter().map(strategy).collect()
    }
}

/// How symbolic seeds are found, if they are.
fn seeds_config(plan: &Plan, concolic: &ConcolicConfig) -> Result<Option<SeedsConfig>, Failure> {
    let Some(seeds) = &plan.seeds else { return Ok(None) };
    let is_timed = !plan.config.budget.counts_work_alone();
    let ConcolicConfig { heuristic, change, memory, before, .. } = concolic.clone();
    let exploration = ExplorationConfig {
        heuristic,
        change,
        memory,
        before,
        share: None,
        max_size: plan.config.max_size,
        is_timed,
        seed: plan.config.seed,
    };
    Ok(Some(SeedsConfig {
        criterion: seeds.criterion()?,
        pick: seeds.pick(),
        exploration,
        bound: seeds.bound(&plan.config.budget, plan.config.workers as u32),
        begins: seeds.begins(),
        freedoms: Freedoms::default(),
    }))
}

/// What strategies consist of, each once.
fn parts(names: &[String]) -> Result<Vec<String>, Failure> {
    let mut parts: Vec<String> = Vec::new();
    for name in names {
        let Some((_, of)) = STRATEGIES.iter().find(|(known, _)| known == name) else {
            let known = STRATEGIES.map(|(name, _)| format!("`{name}`")).join(", ");
            return Err(Failure::usage(format!("`{name}` is no strategy")).hint(format!("there are {known}")));
        };
        for part in *of {
            if !parts.iter().any(|known| known == part) {
                parts.push((*part).to_owned());
            }
        }
    }
    Ok(parts)
}

/// What concolic testing decides otherwise next.
fn heuristic(plan: &Plan) -> Result<Heuristic, Failure> {
    let Some(name) = &plan.heuristic else { return Ok(Heuristic::Generational) };
    name.parse().map_err(|error: cairn_search::NoSuchHeuristic| Failure::usage(error.to_string()))
}

fn region(name: &str) -> Result<RegionKind, Failure> {
    RegionKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = RegionKind::ALL.map(|kind| format!("`{kind}`")).join(", ");
        Failure::usage(format!("`{name}` is no part of an input")).hint(format!("there are {names}"))
    })
}

fn dictionary(path: &Path) -> Result<Dictionary, Failure> {
    let wrong = |reason: String| Failure::usage(format!("dictionary `{}`: {reason}", path.display()));
    let text = fs::read(path).map_err(|error| wrong(error.to_string()))?;
    Dictionary::parse(&text).map_err(|error| wrong(chain(&error)))
}
