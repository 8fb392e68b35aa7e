//! `cairn experiment`: compares ways to test.

use crate::{
    exit_code::Exit,
    failure::{Failure, chain},
    screen::Screen,
    signals::Signals,
};
use cairn_executor::RunConfig;
use cairn_experiment::{Experiment, ExperimentError, Progress, Results, coverage::Tools, report};
use std::{fs, path::PathBuf};

/// Compare ways to test: arms on targets, repeated, measured by one build
#[derive(Debug, clap::Args)]
pub struct RunExperiment {
    /// What is compared, in TOML; see docs/experiments.md
    description: PathBuf,
    /// The folder for results; what is there is not made again
    #[arg(long, short, value_name = "FOLDER", default_value = "cairn-experiment")]
    output: PathBuf,
    /// Repetitions (default: as described)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: Option<u32>,
    /// Seconds for each run of an arm (default: as described)
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// The core on which all arms run, one after the other (default: any)
    #[arg(long, value_name = "N")]
    core: Option<usize>,
}

impl RunExperiment {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let mut experiment = Experiment::load(&self.description).map_err(failure)?;
        if let Some(repetitions) = self.repetitions {
            experiment.repetitions = repetitions;
        }
        if let Some(seconds) = self.seconds {
            let limit = &mut experiment.limit;
            match (&mut limit.cpu_seconds, &mut limit.wall_seconds) {
                (Some(time), _) | (_, Some(time)) => *time = seconds,
                _ => {
                    return Err(Failure::usage("`--seconds` was given, and the description limits no time"));
                }
            }
        }
        let tools = Tools { profdata: "llvm-profdata-19".into(), cov: "llvm-cov-19".into() };
        let signals = Signals::catch()?;
        let results = cairn_experiment::run(
            &experiment,
            &self.output,
            &tools,
            &RunConfig::default(),
            self.core,
            &|| signals.has_caught(),
            |progress| tell(progress, screen),
        )
        .map_err(failure)?;
        self.write(&results)?;
        screen.result(report::table(&results).trim_end());
        if signals.has_caught() {
            screen.warn("the experiment was stopped; the same command goes on with it");
        }
        match results.failed().len() {
            0 => return Ok(Exit::Done),
            1 => screen.warn("a run left nothing; the same command tries it again"),
            n => screen.warn(&format!("{n} runs left nothing; the same command tries them again")),
        }
        Ok(Exit::Target)
    }

    fn write(&self, results: &Results) -> Result<(), Failure> {
        for (name, text) in [
            ("results.md", report::table(results)),
            ("results.csv", report::csv(results)),
            ("results.svg", report::plot(results)),
        ] {
            let path = self.output.join(name);
            fs::create_dir_all(&self.output)
                .and_then(|()| fs::write(&path, text))
                .map_err(|error| Failure::usage(format!("failed to write `{}`: {error}", path.display())))?;
        }
        Ok(())
    }
}

fn tell(progress: &Progress<'_>, screen: &Screen) {
    match progress {
        Progress::Running { arm, target, repetition, done: (done, all) } => {
            screen.progress(&format!("{target}, {arm}, repetition {repetition} ({done} of {all} done)"));
        }
        Progress::Measured { arm, target, result } => screen.note(&format!(
            "{target}, {arm}: {} of {} branches with {} inputs in {:.1} s of processor time",
            result.reached(),
            result.n_branches,
            result.n_inputs,
            result.cpu_seconds
        )),
        Progress::Failed(failed) => screen.warn(&failed.to_string()),
    }
}

fn failure(error: ExperimentError) -> Failure {
    Failure::usage(chain(&error))
}
