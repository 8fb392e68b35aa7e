//! `cairn score`: how good a set of inputs or tests is at noticing changes of the program.

mod child;
mod engine;
mod judge;
mod memory;
mod prepare;
mod suite;
mod worker;

use self::{judge::Setup, memory::Memory};
use crate::{
    exit_code::Exit,
    failure::Failure,
    inputs,
    mutants::{DEFAULT_SET, Mutants, choice::ChoiceArgs, operator_set},
    place::{Fate, Place},
    report::score::{Scored, Stopped, elements, json, text},
    screen::Screen,
    signals::Signals,
    surroundings,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_mutants::analysis::MutantSet;
use cairn_recorder::settings::saved_original;
use std::{fs, path::PathBuf, thread, time::Duration};

/// Measure how many changes of the program inputs or tests notice
#[derive(Debug, clap::Args)]
pub struct Score {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// The operators that make mutants: a set, or names with commas between them
    #[arg(long, value_name = "SET", default_value = DEFAULT_SET)]
    set: String,
    /// Score tests instead of inputs: a file with one shell command a line, each of which passes by ending with 0
    #[arg(long, value_name = "FILE")]
    tests: Option<PathBuf>,
    /// Stop after this long, such as `60s` or `5m`; running again goes on
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Fail if fewer mutants of those reached are killed
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under: Option<f64>,
    /// Count those that are not reached too when comparing with `--fail-under`
    #[arg(long, requires = "fail_under")]
    of_all: bool,
    /// text, json or elements (the mutation-testing report schema)
    #[arg(long, default_value = "text")]
    format: Format,
    /// Run every mutant on every input that may notice it, and find the smallest subset that is as good
    #[arg(long)]
    full_matrix: bool,
    /// List all survivors
    #[arg(long)]
    survivors: bool,
    /// Workers (default: one for each core; tests run one at a time)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Forget what earlier scores found out
    #[arg(long)]
    fresh_results: bool,
    /// Write the report to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Elements,
}

impl Score {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        operator_set(&self.set)?;
        let place = self.take_place(screen)?;
        let wanted = Wanted { mutants: Some(self.set.clone()), ..Wanted::USUAL };
        let subject = Subject::open(&self.target, &wanted, &|text| screen.progress(text))?;
        let mutants = Mutants::of(&subject)?;
        let selected = self.choice.select(&mutants, None)?;
        // Until here a signal may end us as it likes; from here on results are kept, and the program gets back.
        let signals = Signals::catch()?;
        let scored = match (&self.tests, place) {
            (Some(tests), Some(place)) => {
                let plan = suite::Plan {
                    subject: &subject,
                    mutants: &mutants,
                    selected,
                    tests: suite::read_tests(tests)?,
                    is_full: self.full_matrix,
                    budget: self.budget,
                };
                suite::score(plan, place, &signals, screen)?
            }
            _ => self.score_inputs(&subject, &mutants, selected, &signals, screen)?,
        };
        let exit = self.conclude(&scored, screen)?;
        if scored.stopped == Some(Stopped::Signal) {
            signals.die_if_caught();
        }
        Ok(exit)
    }

    fn score_inputs<'a>(
        &self,
        subject: &'a Subject,
        mutants: &'a Mutants,
        selected: MutantSet,
        signals: &Signals,
        screen: &Screen,
    ) -> Result<Scored<'a>, Failure> {
        let inputs = inputs::load(&subject.inputs, &subject.template)?;
        if inputs.is_empty() {
            return Err(Failure::usage("no inputs were named").hint(
                "name files or folders of inputs, `cairn score ./prog inputs/`, or tests by `--tests FILE`",
            ));
        }
        let setup = Setup::new(&subject.config, subject.run_config.clone())?;
        let mut memory = Memory::open(&subject.record.folder, mutants, setup.hash(), self.fresh_results)?;
        let n_cores = thread::available_parallelism().map_or(1, usize::from);
        let plan = engine::Plan {
            subject,
            mutants,
            selected,
            inputs,
            setup,
            n_jobs: self.jobs.map_or(n_cores, usize::from),
            is_full: self.full_matrix,
            budget: self.budget,
        };
        engine::score(plan, &mut memory, signals, screen)
    }

    /// Puts back a program that an earlier command left replaced, and for tests keeps its place.
    fn take_place(&self, screen: &Screen) -> Result<Option<Place>, Failure> {
        let config = crate::config::Config::load(&surroundings::places()?.directory)?;
        let (program, _) = self.target.split(&config)?;
        let path = suite::program_path(&program)?;
        if self.tests.is_none() && !saved_original(&path).exists() {
            return Ok(None);
        }
        let (place, leftover) = Place::take(&path, "cairn score")?;
        match leftover {
            Some(Fate::Back | Fate::Missing) => screen.warn(&format!(
                "an earlier command was cut short; `{}` was put back in its place",
                program.display()
            )),
            Some(Fate::Replaced) => screen.warn(&format!(
                "an earlier command was cut short; `{}` was built anew since then and was left as it is",
                program.display()
            )),
            None => {}
        }
        Ok(self.tests.is_some().then_some(place))
    }

    fn conclude(&self, scored: &Scored, screen: &Screen) -> Result<Exit, Failure> {
        for test in &scored.tests {
            if let Some(why) = &test.left_out {
                screen.warn(&format!("`{}` has no say: {why}", test.name));
            }
            if !test.masked.is_empty() {
                let parts = test.masked.join(", ");
                screen
                    .warn(&format!("`{}`: {parts} differ from run to run and were not looked at", test.name));
            }
        }
        let score = scored.score();
        if scored.n_usable() == 0 {
            return Err(Failure::unbelievable("no score: no input has a say")
                .hint("use inputs on which the program ends by itself, and always in the same way"));
        }
        if score.n_reached == 0 && scored.stopped.is_none() {
            return Err(Failure::nothing(format!(
                "no score: none of {} selected mutants is reached",
                score.n_selected
            ))
            .hint("`cairn cover` shows what the inputs execute"));
        }
        let report = match self.format {
            Format::Text => text::render(scored, self.survivors),
            Format::Json => json::render(scored),
            Format::Elements => elements::render(scored),
        };
        match &self.output {
            Some(path) => fs::write(path, report)
                .map_err(|error| Failure::usage(format!("failed to write `{}`: {error}", path.display())))?,
            None => screen.result(report.trim_end()),
        }
        let percent = if self.of_all { score.percent_of_all() } else { score.percent_of_reached() };
        Ok(match (self.fail_under, percent) {
            (Some(least), Some(percent)) if percent < least => {
                screen.warn(&format!("the score is {percent:.1}%, below {least}%"));
                Exit::BelowScore
            }
            // What is not known is not enough.
            (Some(least), None) => {
                screen.warn(&format!("no mutant was decided, so nothing says that the score is {least}%"));
                Exit::BelowScore
            }
            _ => Exit::Done,
        })
    }
}

/// `60s`, `5m`, `2h`, or seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("`{unit}` is no unit of time: use `ms`, `s`, `m` or `h`")),
    };
    let number: f64 = digits.parse().map_err(|_| format!("`{text}` is no time: write `60s` or `5m`"))?;
    Duration::try_from_secs_f64(number * unit).map_err(|error| format!("`{text}`: {error}"))
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err(format!("`{text}` is no percentage: write a number from 0 to 100")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(duration("5 parsecs").is_err());
        assert!(duration("s").is_err());
        assert!(duration("-1s").is_err());
    }

    #[test]
    fn percentages_lie_between_0_and_100() {
        assert_eq!(percent("75%"), Ok(75.0));
        assert!(percent("101").is_err());
        assert!(percent("all").is_err());
    }
}
