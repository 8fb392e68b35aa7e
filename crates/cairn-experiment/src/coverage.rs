//! What inputs reach, as a build by clang sees it.
//!
//! Each input is run once on the coverage build, in the sandbox like any other run; what the profiling runtime writes there is
//! merged with `llvm-profdata` and counted with `llvm-cov`. An input on which the program dies leaves no profile.

use crate::error::ExperimentError;
use cairn_executor::{Executor, RunConfig, Target};
use cairn_model::{Input, outcome::FileChange};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The file a run leaves its profile in.
const PROFILE: &str = "cairn-coverage.profraw";

/// Profiles merged at once: enough that starting the tool does not matter, few enough that they fit on a disk.
const AT_ONCE: usize = 200;

/// Tools that read profiles.
#[derive(Clone, Debug)]
pub struct Tools {
    /// `llvm-profdata`, of the compiler's version.
    pub profdata: PathBuf,
    /// `llvm-cov`, likewise.
    pub cov: PathBuf,
}

/// Counts what inputs reach, all together.
#[derive(Debug)]
pub struct Coverage {
    executor: Executor,
    program: PathBuf,
    files: Vec<PathBuf>,
    tools: Tools,
    folder: tempfile::TempDir,
    n_pending: usize,
    has_merged: bool,
    /// Inputs that left no profile.
    pub n_without: usize,
}

/// What was reached of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Branches.
    pub branches: Share,
    /// Lines.
    pub lines: Share,
}

/// How many were reached, and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Reached.
    pub reached: u64,
    /// All.
    pub all: u64,
}

impl Coverage {
    /// Nothing reached yet, on `program`; only `files` count, or all where none is named.
    pub fn new(
        program: &Path,
        files: Vec<PathBuf>,
        tools: Tools,
        mut run: RunConfig,
    ) -> Result<Self, ExperimentError> {
        // A profile holds all counters of the program.
        run.output_limit = run.output_limit.max(32 << 20);
        let target = Target { program: program.to_path_buf(), n_counters: 0 };
        let folder =
            tempfile::tempdir().map_err(ExperimentError::file("make a folder in", std::env::temp_dir()))?;
        Ok(Self {
            executor: Executor::new(target, run)?,
            program: program.to_path_buf(),
            files,
            tools,
            folder,
            n_pending: 0,
            has_merged: false,
            n_without: 0,
        })
    }

    /// Adds what an input reaches.
    pub fn add(&mut self, input: &Input) -> Result<(), ExperimentError> {
        let mut input = input.clone();
        input.environment.push(("LLVM_PROFILE_FILE".into(), PROFILE.into()));
        let execution = self.executor.run(&input)?;
        match execution.outcome.files.get(PROFILE) {
            Some(FileChange::Written { content, .. })
                if !content.is_truncated() && !content.bytes.0.is_empty() =>
            {
                let path = self.folder.path().join(format!("{}.profraw", self.n_pending));
                fs::write(&path, &content.bytes.0).map_err(ExperimentError::file("write", &path))?;
                self.n_pending += 1;
            }
            _ => self.n_without += 1,
        }
        if self.n_pending >= AT_ONCE { self.merge() } else { Ok(()) }
    }

    /// What was reached so far.
    pub fn reached(&mut self) -> Result<Reached, ExperimentError> {
        self.merge()?;
        if !self.has_merged {
            return Ok(Reached::default());
        }
        let mut command = Command::new(&self.tools.cov);
        command.args(["export", "-summary-only", "-instr-profile"]).arg(self.merged()).arg(&self.program);
        command.args(&self.files);
        let text = output(&mut command)?;
        let wrong = |reason: String| ExperimentError::Coverage { reason };
        let summary: Value = serde_json::from_slice(&text)
            .map_err(|error| wrong(format!("`llvm-cov` printed no JSON: {error}")))?;
        let share = |kind: &str| {
            let totals = &summary["data"][0]["totals"][kind];
            match (totals["covered"].as_u64(), totals["count"].as_u64()) {
                (Some(reached), Some(all)) => Ok(Share { reached, all }),
                _ => Err(wrong(format!("`llvm-cov` told of no {kind}"))),
            }
        };
        Ok(Reached { branches: share("branches")?, lines: share("lines")? })
    }

    fn merged(&self) -> PathBuf {
        self.folder.path().join("merged.profdata")
    }

    fn merge(&mut self) -> Result<(), ExperimentError> {
        if self.n_pending == 0 {
            return Ok(());
        }
        let (new, merged) = (self.folder.path().join("new.profdata"), self.merged());
        let mut command = Command::new(&self.tools.profdata);
        command.args(["merge", "-sparse", "-o"]).arg(&new);
        let pending: Vec<PathBuf> =
            (0..self.n_pending).map(|index| self.folder.path().join(format!("{index}.profraw"))).collect();
        command.args(&pending);
        if self.has_merged {
            command.arg(&merged);
        }
        output(&mut command)?;
        fs::rename(&new, &merged).map_err(ExperimentError::file("write", &merged))?;
        for path in &pending {
            fs::remove_file(path).map_err(ExperimentError::file("remove", path))?;
        }
        self.n_pending = 0;
        self.has_merged = true;
        Ok(())
    }
}

fn output(command: &mut Command) -> Result<Vec<u8>, ExperimentError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.output().map_err(|source| ExperimentError::Start { command: name.clone(), source })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(ExperimentError::Coverage { reason: format!("`{name}` failed: {}", errors.trim()) })
}
