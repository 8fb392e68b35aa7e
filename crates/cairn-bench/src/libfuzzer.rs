//! libFuzzer, running given buffers or making some.
//!
//! Left alone it changes its inputs all the time, and is as fast as these happen to be. So its builds are linked with
//! `bench/harnesses/in_turn.c`, which hands it the buffers one after the other.

use crate::{speed::LASTS, tools::empty};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

/// A harness that libFuzzer drives.
pub struct LibFuzzer {
    /// The executable.
    pub program: PathBuf,
    /// A folder for its corpus, made anew each time because it adds to it.
    pub corpus: PathBuf,
}

/// Of so many inputs that it makes, [`LibFuzzer::make`] gets each sixteenth.
const MADE: u64 = 8192;

impl LibFuzzer {
    /// Runs per second over `n_runs` runs, start included.
    pub fn rate(&self, buffers: &[Vec<u8>], n_runs: u64) -> Result<f64> {
        self.write_corpus(buffers)?;
        let start = Instant::now();
        let n_executed = self.run(buffers, n_runs, ("IN_TURN", &self.corpus))?;
        Ok(n_executed / start.elapsed().as_secs_f64())
    }

    /// So many runs on these buffers that they take about as long as a repeat of ours.
    ///
    /// A short sample would be mostly start-up and make libFuzzer look slow, so the sample grows until it is long itself.
    pub fn calibrate(&self, buffers: &[Vec<u8>]) -> Result<u64> {
        let mut n_runs = 5_000;
        loop {
            let start = Instant::now();
            let rate = self.rate(buffers, n_runs)?;
            if start.elapsed() * 2 > LASTS {
                return Ok((rate * LASTS.as_secs_f64()) as u64);
            }
            n_runs *= 3;
        }
    }

    /// Inputs that it makes when it starts from these.
    pub fn make(&self, buffers: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        self.write_corpus(buffers)?;
        let folder = self.corpus.with_extension("made");
        empty(&folder)?;
        self.run(buffers, MADE, ("MADE", &folder))?;
        let mut paths: Vec<_> = fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        ensure!(!paths.is_empty(), "libFuzzer made no inputs");
        Ok(paths.iter().map(fs::read).collect::<Result<_, _>>()?)
    }

    /// What [`LibFuzzer::rate`] runs, to be shown.
    pub fn command(&self, buffers: &[Vec<u8>], n_runs: u64) -> String {
        let (corpus, program) = (self.corpus.display(), self.program.display());
        format!("IN_TURN={corpus} {program} -runs={n_runs} -max_len={} {corpus}", longest(buffers))
    }

    /// Makes the corpus hold the buffers and nothing else.
    fn write_corpus(&self, buffers: &[Vec<u8>]) -> Result<()> {
        empty(&self.corpus)?;
        for (index, buffer) in buffers.iter().enumerate() {
            fs::write(self.corpus.join(format!("{index:04}")), buffer)?;
        }
        Ok(())
    }

    /// Returns how many runs it says it made: at least `n_runs`.
    fn run(&self, buffers: &[Vec<u8>], n_runs: u64, variable: (&str, &Path)) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command
            .arg(format!("-runs={n_runs}"))
            .arg(format!("-max_len={}", longest(buffers)))
            // Else it begins with short inputs only.
            .args(["-seed=1", "-len_control=0", "-print_final_stats=1", "-verbosity=0"])
            .arg(&self.corpus)
            .env(variable.0, variable.1);
        let output = command.stdin(Stdio::null()).output().context("failed to start libFuzzer")?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{}` failed: {}\n{text}", self.program.display(), output.status);
        let executed = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        let executed: f64 =
            executed.and_then(|number| number.trim().parse().ok()).context("libFuzzer printed no figures")?;
        ensure!(executed >= n_runs as f64, "libFuzzer made {executed} of {n_runs} runs");
        Ok(executed)
    }
}

fn longest(buffers: &[Vec<u8>]) -> usize {
    buffers.iter().map(Vec::len).max().unwrap_or(1)
}
