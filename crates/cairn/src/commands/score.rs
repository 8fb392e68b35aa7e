//! `cairn score`: how good a set of inputs or tests is at noticing changes of the program.

mod child;
pub mod engine;
mod judge;
mod memory;
mod orphans;
mod prepare;
mod reach_folder;
mod ready;
mod suite;
mod test_line;
mod worker;

pub use self::{
    judge::{Compare, Setup},
    memory::Memory,
    prepare::Prepared,
    worker::Worker,
};

use self::test_line::read_tests;
use crate::{
    duration,
    exit_code::Exit,
    failure::Failure,
    inputs,
    mutants::{
        DEFAULT_SET, Mutants,
        choice::{Choice, ChoiceArgs},
        operator_set,
    },
    place::{Fate, Place},
    report::score::{Scored, Stopped, destination::Destination, elements, json, share::Share, text},
    screen::{Screen, count},
    signals::Signals,
    surroundings,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_executor::SandboxLevel;
use cairn_mutants::analysis::{MutantSet, Score as ScoreNumbers};
use cairn_recorder::settings::saved_original;
use std::{path::PathBuf, thread, time::Duration};

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
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
    /// Fail if fewer mutants of those reached are killed; pending ones count as not killed
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
    /// Workers (default: one for each core); tests run one at a time
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
        let choice = self.choice.read()?;
        let mut destination = Destination::find(self.output.as_deref())?;
        let result = self.score(choice, &mut destination, screen);
        if let Err(failure) = &result
            && matches!(failure.exit, Exit::NothingToScore | Exit::Unbelievable)
            && !destination.is_written()
        {
            // Whoever asked for JSON reads there why there is no score.
            match self.format {
                Format::Text => {}
                Format::Json => {
                    let program = self.target.words.first().map_or("".into(), |word| word.to_string_lossy());
                    destination.write(&json::render_failure(&program, &self.set, failure), screen)?;
                }
                Format::Elements => destination.write(&elements::render_failure(failure), screen)?,
            }
        }
        result
    }

    fn score(
        &self,
        choice: Choice<'_>,
        destination: &mut Destination,
        screen: &Screen,
    ) -> Result<Exit, Failure> {
        let place = self.take_place(screen)?;
        let tests = self.tests.as_deref().map(read_tests).transpose()?;
        let wanted = Wanted { mutants: Some(self.set.clone()), ..Wanted::USUAL };
        let subject = Subject::open(&self.target, &wanted, &|text| screen.progress(text))?;
        let mutants = Mutants::of(&subject)?;
        mutants.warn_of_changes(screen);
        if let Some(warning) = subject.record.sanitizer_warning() {
            screen.warn(&warning);
        }
        let is_share = choice.is_share();
        let selected = choice.select(&mutants, None)?;
        if is_share && selected.is_empty() {
            return self.nothing_to_do(destination, screen);
        }
        // Until here a signal may end us as it likes; from here on results are kept, and the program gets back.
        let signals = Signals::catch()?;
        let scored = match (tests, place) {
            (Some(tests), Some(place)) => {
                let plan = suite::Plan {
                    subject: &subject,
                    mutants: &mutants,
                    selected,
                    tests,
                    is_full: self.full_matrix,
                    budget: self.budget,
                };
                let setup = suite::setup_hash(&subject)?;
                let mut memory = Memory::open(&subject.record.folder, &mutants, setup, self.fresh_results)?;
                suite::score(plan, place, &mut memory, &signals, screen)?
            }
            _ => self.score_inputs(&subject, &mutants, selected, &signals, screen)?,
        };
        let exit = self.conclude(&scored, destination, screen)?;
        if scored.stopped == Some(Stopped::Signal) {
            signals.die_if_caught();
        }
        Ok(exit)
    }

    /// There are fewer mutants than shares, which is no failure of whoever runs all shares.
    fn nothing_to_do(&self, destination: &mut Destination, screen: &Screen) -> Result<Exit, Failure> {
        let nothing = Failure {
            exit: Exit::Done,
            ..Failure::nothing("nothing to do: there is no mutant in this share")
        };
        match self.format {
            Format::Text => destination.write(&format!("{}\n", nothing.message), screen)?,
            Format::Json => {
                let program = self.target.words.first().map_or("".into(), |word| word.to_string_lossy());
                destination.write(&json::render_failure(&program, &self.set, &nothing), screen)?;
            }
            Format::Elements => destination.write(&elements::render_failure(&nothing), screen)?,
        }
        Ok(Exit::Done)
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
        let (program, inputs) = self.target.split(&config)?;
        match self.tests {
            Some(_) => self.check_tests_alone(&inputs)?,
            None if inputs.is_empty() => {
                return Err(Failure::usage("no inputs were named").hint(
                    "name files or folders of inputs, `cairn score ./prog inputs/`, or tests by `--tests FILE`",
                ));
            }
            None => inputs::check_exist(&inputs)?,
        }
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

    /// Refuses what means nothing for tests, so that nobody waits for its effect.
    fn check_tests_alone(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        if let Some(input) = inputs.first() {
            return Err(Failure::usage(format!(
                "`--tests` scores tests, and `{}` is an input",
                input.display()
            ))
            .hint("score the inputs without `--tests`, or write a test that uses them"));
        }
        if !self.target.args.is_empty() {
            return Err(Failure::usage("`--tests` scores tests, which bring the arguments of the program")
                .hint("leave out `--` and what follows it"));
        }
        if self.target.sandbox.is_some_and(|level| level != SandboxLevel::Off) {
            return Err(Failure::usage("tests run as they are, without a sandbox")
                .hint("leave out `--sandbox`, or score inputs"));
        }
        if self.jobs.is_some_and(|jobs| jobs > 1) {
            return Err(Failure::usage("tests run one at a time, because they share the program's place")
                .hint("leave out `--jobs`; `--shard K/N` shares the mutants between copies of the project"));
        }
        Ok(())
    }

    fn conclude(
        &self,
        scored: &Scored,
        destination: &mut Destination,
        screen: &Screen,
    ) -> Result<Exit, Failure> {
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
        let failure = self.no_score(scored, &score);
        match self.format {
            Format::Text if failure.is_some() => {}
            Format::Text => destination.write(&text::render(scored, self.survivors), screen)?,
            Format::Json => destination.write(&json::render(scored, failure.as_ref()), screen)?,
            Format::Elements => destination.write(&elements::render(scored, failure.as_ref()), screen)?,
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        let Some(least) = self.fail_under else { return Ok(Exit::Done) };
        let share = if self.of_all { Share::of_all(&score) } else { Share::of_reached(&score) };
        // What is not known is not enough.
        let problem = match share {
            Some(share) if share.least >= least => return Ok(Exit::Done),
            Some(share) if share.most < least => format!("the score is {share}, below {least}%"),
            Some(share) => format!(
                "the score is {share} with {} pending, so nothing says that it is {least}%",
                count(score.n_pending, "mutant")
            ),
            None => format!("no mutant was decided, so nothing says that the score is {least}%"),
        };
        screen.warn(&problem);
        Ok(Exit::BelowScore)
    }

    /// Why what was found out does not amount to a score, if it does not. One that was cut short may still become one.
    fn no_score(&self, scored: &Scored, score: &ScoreNumbers) -> Option<Failure> {
        if scored.stopped.is_some() {
            return None;
        }
        if scored.n_usable() == 0 {
            return Some(match self.tests {
                Some(_) => Failure::unbelievable("no score: no test has a say")
                    .hint("use tests that pass with the program, wherever they are run"),
                None => Failure::unbelievable("no score: no input has a say")
                    .hint("use inputs on which the program ends by itself, and always in the same way"),
            });
        }
        (score.n_reached == 0).then(|| {
            let hint = match self.tests {
                Some(_) => "tests must start the program where it lies, and use what is mutated",
                None => "`cairn cover` shows what the inputs execute",
            };
            Failure::nothing(format!("no score: none of {} selected mutants is reached", score.n_selected))
                .hint(hint)
        })
    }
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
    fn percentages_lie_between_0_and_100() {
        assert_eq!(percent("75%"), Ok(75.0));
        assert!(percent("101").is_err());
        assert!(percent("all").is_err());
    }
}
