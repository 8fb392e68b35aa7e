//! Strategies by name.

use super::{mutant_plan::MutantPlan, plan::Plan};
use crate::{
    failure::{Failure, chain},
    target::Subject,
};
use cairn_fuzz::{Dictionary, FuzzConfig, FuzzStrategy, MutantsConfig, RegionKind};
use cairn_model::Input;
use cairn_strategy::Strategy;
use std::{fs, path::Path};

/// Makes the strategies of workers.
pub struct Strategies {
    names: Vec<String>,
    mutants: MutantsConfig,
    fuzz: FuzzConfig,
    n_workers: u32,
}

impl Strategies {
    /// As planned. What seeds consist of may be changed, and nothing else: of raw bytes the bytes.
    pub fn new(plan: &Plan, subject: &Subject, seeds: &[Input]) -> Result<Self, Failure> {
        for name in &plan.strategies {
            if !["fuzz", "mu2"].contains(&name.as_str()) {
                return Err(Failure::usage(format!("`{name}` is no strategy"))
                    .hint("there are `fuzz` and `mu2`, which also keeps inputs that kill mutants"));
            }
        }
        let mut fuzz = FuzzConfig::of_template(&subject.template);
        if !plan.changes.is_empty() {
            fuzz.regions = plan.changes.iter().map(|name| region(name)).collect::<Result<_, _>>()?;
            // Whoever asks for other parts wants them changed in all inputs.
            fuzz.raw = None;
        } else if seeds.iter().any(|seed| subject.template.raw(seed).is_none()) {
            // Whole inputs: all that they are made of.
            fuzz.regions = RegionKind::ALL.to_vec();
        }
        for path in &plan.dictionaries {
            fuzz.dictionary.extend(&dictionary(path)?);
        }
        let names = plan.strategies.clone();
        let mutants = plan.mutants.as_ref().map(MutantPlan::config).transpose()?.unwrap_or_default();
        Ok(Self { names, mutants, fuzz, n_workers: plan.config.workers.max(1) as u32 })
    }

    /// Those of one worker.
    pub fn of_worker(&self, worker: usize) -> Vec<Box<dyn Strategy>> {
        let config = FuzzConfig { worker: (worker as u32, self.n_workers), ..self.fuzz.clone() };
        let strategy = |name: &String| -> Box<dyn Strategy> {
            match name.as_str() {
                "mu2" => Box::new(FuzzStrategy::with_mutants(config.clone(), self.mutants.clone())),
                _ => Box::new(FuzzStrategy::new(config.clone())),
            }
        };
        self.names.iter().map(strategy).collect()
    }
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
