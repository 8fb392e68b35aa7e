//! One run of one arm on one target.

use crate::{
    coverage::{Coverage, Reached, Tools},
    description::{Arm, Experiment, Target},
    error::ExperimentError,
    process::{self, Used},
};
use cairn_executor::RunConfig;
use cairn_store::input_file;
use serde::{Deserialize, Serialize};
use std::{
    fmt, fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// How often coverage is counted on the way.
const N_CHECKPOINTS: usize = 10;

/// What one run of an arm came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// Seconds on the clock.
    pub wall_seconds: f64,
    /// Seconds of processor time.
    pub cpu_seconds: f64,
    /// Inputs it left.
    pub n_inputs: usize,
    /// Inputs on which the coverage build left nothing, because it died.
    pub n_unmeasured: usize,
    /// Branches of the target.
    pub n_branches: u64,
    /// Lines reached in all.
    pub lines_reached: u64,
    /// Lines of the target.
    pub n_lines: u64,
    /// Branches reached over time; the last says what was reached in all.
    pub checkpoints: Vec<Checkpoint>,
}

/// What became of a run of an arm.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ran {
    /// It was measured.
    Measured(CellResult),
    /// It left nothing that could be.
    Failed(FailedRun),
}

/// A run of an arm that left no input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedRun {
    /// Which arm.
    pub arm: String,
    /// On what.
    pub target: String,
    /// For which time.
    pub repetition: u32,
    /// How its command ended, as the system tells it.
    pub ended: String,
    /// What it printed.
    pub log: PathBuf,
}

impl fmt::Display for FailedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arm, target, repetition, ended, log } = self;
        let log = log.display();
        write!(
            f,
            "{target}, {arm}, repetition {repetition}: it left no input ({ended}); what it printed is in `{log}`"
        )
    }
}

/// What was reached by then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Seconds on the clock since the start.
    pub seconds: f64,
    /// Branches reached.
    pub reached: u64,
}

impl CellResult {
    /// Branches reached in all.
    pub fn reached(&self) -> u64 {
        self.checkpoints.last().map_or(0, |checkpoint| checkpoint.reached)
    }
}

/// Where and how cells are run.
pub(crate) struct Cell<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) arm: &'a Arm,
    pub(crate) target: &'a Target,
    pub(crate) repetition: u32,
    pub(crate) folder: PathBuf,
    pub(crate) core: Option<usize>,
}

impl Cell<'_> {
    fn result_path(&self) -> PathBuf {
        self.folder.join("result.json")
    }

    /// The result of an earlier run, if there is one.
    pub(crate) fn earlier(&self) -> Option<CellResult> {
        serde_json::from_slice(&fs::read(self.result_path()).ok()?).ok()
    }

    /// Runs the arm and measures what it left; `None` if it was stopped on the way. Of a run that left nothing no result is kept:
    /// whoever goes on with the experiment may have mended it.
    pub(crate) fn run(
        &self,
        tools: &Tools,
        run: &RunConfig,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Ran>, ExperimentError> {
        // Half of an earlier run is no start.
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(ExperimentError::file("remove", &self.folder))?;
        }
        fs::create_dir_all(&self.folder).map_err(ExperimentError::file("make", &self.folder))?;
        let (out, log) = (self.folder.join("out"), self.folder.join("log"));
        let words = |words: &[String]| {
            let words = self.experiment.words(words, self.arm, self.target, self.repetition, &out);
            words.expect("the description was checked")
        };
        let start = SystemTime::now();
        let times = self.experiment.times();
        let used = process::run(
            &words(&self.arm.command),
            &self.arm.environment,
            times,
            process::Place {
                core: self.core,
                folder: self.arm.contained.then_some(self.folder.as_path()),
                log: &log,
            },
            is_stopped,
        )?;
        let Some(used) = used else { return Ok(None) };
        let files = files(&words(&self.arm.inputs), start)?;
        if files.is_empty() {
            return Ok(Some(Ran::Failed(FailedRun {
                arm: self.arm.name.clone(),
                target: self.target.name.clone(),
                repetition: self.repetition,
                ended: used.status.to_string(),
                log,
            })));
        }
        let result = self.measure(&files, used, tools, run)?;
        let path = self.result_path();
        let json = serde_json::to_vec_pretty(&result).expect("a result is always JSON");
        let draft = path.with_extension("new");
        fs::write(&draft, json)
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(ExperimentError::file("write", &path))?;
        Ok(Some(Ran::Measured(result)))
    }

    fn measure(
        &self,
        files: &[(Duration, PathBuf)],
        used: Used,
        tools: &Tools,
        run: &RunConfig,
    ) -> Result<CellResult, ExperimentError> {
        let template = self.target.template();
        let mut coverage =
            Coverage::new(&self.target.coverage, self.target.files.clone(), tools.clone(), run.clone())?;
        let mut checkpoints = Vec::new();
        let step = used.wall.as_secs_f64().max(1e-3) / N_CHECKPOINTS as f64;
        let mut reached = Reached::default();
        for (index, (after, path)) in files.iter().enumerate() {
            let bytes = fs::read(path).map_err(ExperimentError::file("read", path))?;
            let mut input = input_file::decode(path, bytes, &template)
                .map_err(|error| ExperimentError::Coverage { reason: error.to_string() })?;
            let environment = &self.arm.coverage_environment;
            input.environment.extend(
                environment.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())),
            );
            coverage.add(&input)?;
            let number = |time: Duration| (time.as_secs_f64() / step) as usize;
            let is_last = index + 1 == files.len();
            if is_last || number(files[index + 1].0) > number(*after) {
                reached = coverage.reached()?;
                let seconds = after.as_secs_f64();
                checkpoints.push(Checkpoint { seconds, reached: reached.branches.reached });
            }
        }
        if !files.is_empty() && reached.branches.all == 0 {
            let build = self.target.coverage.display();
            let reason = format!(
                "`{build}` tells of no branches; clang builds what does with `-fprofile-instr-generate -fcoverage-mapping`"
            );
            return Err(ExperimentError::Coverage { reason });
        }
        Ok(CellResult {
            wall_seconds: used.wall.as_secs_f64(),
            cpu_seconds: used.cpu.as_secs_f64(),
            n_inputs: files.len(),
            n_unmeasured: coverage.n_without,
            n_branches: reached.branches.all,
            lines_reached: reached.lines.reached,
            n_lines: reached.lines.all,
            checkpoints,
        })
    }
}

/// Inputs in files and folders, in the order they were made, with the time since `start`.
fn files(paths: &[String], start: SystemTime) -> Result<Vec<(Duration, PathBuf)>, ExperimentError> {
    let mut files = Vec::new();
    for path in paths.iter().map(Path::new) {
        let entries: Vec<PathBuf> = match fs::read_dir(path) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(_) if path.is_file() => vec![path.to_path_buf()],
            Err(_) => Vec::new(),
        };
        for path in entries {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if !path.is_file() || name.starts_with('.') || name == "README.txt" {
                continue;
            }
            let made = fs::metadata(&path)
                .and_then(|metadata| metadata.modified())
                .map_err(ExperimentError::file("look at", &path))?;
            // What was copied from seeds may be older than the run.
            files.push((made.duration_since(start).unwrap_or_default(), path));
        }
    }
    files.sort();
    Ok(files)
}
