//! A real program with its mutant view and recorded inputs.

use crate::random::Random;
use anyhow::{Context, Result, ensure};
use cairn_executor::RunConfig;
use cairn_model::Input;
use cairn_targets::{Built, Cache, Target, find};
use cairn_testkit::mutants::MutantBuild;
use serde_json::json;
use std::{fs, path::PathBuf};

/// A program that is measured.
pub struct Subject {
    /// The program.
    pub target: &'static Target,
    /// Its usual views.
    pub built: Built,
    /// Its mutant view.
    pub build: MutantBuild,
}

/// Builds a program's views with the mutants of a set.
pub fn open(cache: &Cache, name: &str, set: &str) -> Result<Subject> {
    let target = find(name)?;
    let built = target.build(cache)?;
    (cache.say)(&format!("building the mutants of {name}, set {set}"));
    let scope = json!({ "files": target.scope, "functions": [], "exclude_files": [] }).to_string();
    let build = MutantBuild::of(&built.program, set, Some(scope));
    Ok(Subject { target, built, build })
}

impl Subject {
    /// Limits of runs; the program finds its own name.
    pub fn run_config(&self) -> RunConfig {
        RunConfig { program_name: Some(self.target.program_name.into()), ..RunConfig::default() }
    }
}

/// `n` recorded inputs of a program, the same ones every time, with their files.
pub fn recorded(cache: &Cache, target: &Target, n: usize) -> Result<Vec<(PathBuf, Input)>> {
    let folder = target.record(cache)?.folder;
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    Random(5).shuffle(&mut paths);
    let mut inputs = Vec::new();
    for path in paths.into_iter().take(n) {
        let bytes = fs::read(&path)?;
        let input = serde_json::from_slice(&bytes)
            .with_context(|| format!("`{}` is no recorded input", path.display()))?;
        inputs.push((path, input));
    }
    ensure!(inputs.len() == n, "{} has only {} recorded inputs", target.name, inputs.len());
    Ok(inputs)
}
