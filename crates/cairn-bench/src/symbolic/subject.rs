//! A real program with its symbolic view and inputs to start from.

use super::pictures;
use anyhow::{Context, Result, ensure};
use cairn_concolic::{Limits, Path, Recording, Regions};
use cairn_executor::{RunConfig, SymbolicConfig, SymbolicExecutor, SymbolicRun, environment};
use cairn_model::Input;
use cairn_targets::{Cache, Kind, Target, find};
use cairn_testkit::SymbolicBuild;
use serde_json::json;
use std::{
    fs,
    time::{Duration, Instant},
};

/// A program that is measured.
pub struct Subject {
    /// The program.
    pub target: &'static Target,
    /// Its views.
    pub build: SymbolicBuild,
}

/// Builds a program's symbolic view.
pub fn open(cache: &Cache, name: &str) -> Result<Subject> {
    let target = find(name)?;
    let built = target.build(cache)?;
    (cache.say)(&format!("building the symbolic view of {name}"));
    let scope = json!({ "files": target.scope, "functions": [], "exclude_files": [] }).to_string();
    Ok(Subject { target, build: SymbolicBuild::of(&built.program, Some(scope)) })
}

impl Subject {
    /// What its test suite asks of it, or its samples; for lodepng, which brings none, pictures of ours.
    pub fn inputs(&self, cache: &Cache) -> Result<Vec<Input>> {
        let folder = self.target.record(cache)?.folder;
        let mut paths: Vec<_> = fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        let mut inputs = Vec::new();
        for path in paths {
            let bytes = fs::read(&path)?;
            inputs.push(match self.target.kind {
                Kind::Program => serde_json::from_slice(&bytes)
                    .with_context(|| format!("`{}` is no recorded input", path.display()))?,
                Kind::Harness(_) => buffer(bytes),
            });
        }
        if self.target.name == "lodepng" {
            inputs.extend(pictures::all().into_iter().map(buffer));
        }
        ensure!(!inputs.is_empty(), "{} has no inputs to start from", self.target.name);
        Ok(inputs)
    }

    /// Runs its symbolic view.
    pub fn tracer(&self, config: SymbolicConfig) -> Result<Tracer> {
        Tracer::new(&self.build, self.target.program_name, config)
    }
}

fn buffer(bytes: Vec<u8>) -> Input {
    Input { buffer: Some(bytes.into()), ..Input::default() }
}

/// Runs inputs in a symbolic view.
pub struct Tracer {
    executor: SymbolicExecutor,
    /// How long runs took.
    pub running: Duration,
    /// How long it took to read their paths.
    pub reading: Duration,
}

impl Tracer {
    /// Of a view, for a program that finds `name` in `argv[0]`.
    pub fn new(build: &SymbolicBuild, name: &str, config: SymbolicConfig) -> Result<Self> {
        let limits = RunConfig { program_name: Some(name.into()), ..RunConfig::default() };
        let executor = SymbolicExecutor::new(build.symbolic_view(), limits, config)?;
        Ok(Self { executor, running: Duration::ZERO, reading: Duration::ZERO })
    }

    /// Runs an input.
    pub fn run(&mut self, input: &Input) -> Result<SymbolicRun> {
        Ok(self.executor.run(input)?)
    }

    /// Runs an input and reads its path.
    pub fn trace(&mut self, input: &Input) -> Result<(SymbolicRun, Path)> {
        let start = Instant::now();
        let run = self.run(input)?;
        self.running += start.elapsed();
        let start = Instant::now();
        let regions = Regions::new(input.clone(), environment(input)?, Limits::default());
        let recording = Recording { records: &run.records, nodes: &run.nodes, tables: &run.tables };
        let path = Path::new(recording, regions);
        self.reading += start.elapsed();
        Ok((run, path))
    }
}
