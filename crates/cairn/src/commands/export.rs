//! `cairn export`: a suite of tests from inputs.

use crate::{
    commands::{minimize, score::Setup},
    distil::{self, DistilConfig, Reducing, corpus},
    exit_code::Exit,
    failure::Failure,
    inputs::NamedInput,
    screen::{Screen, count},
    signals::Signals,
    suite::{Comparer, Expected, Manifest, Suite, folder::named_tests, record},
    target::{Subject, TargetArgs, Wanted},
};
use cairn_executor::Executor;
use cairn_model::Input;
use serde::Serialize;
use std::{collections::BTreeMap, path::PathBuf};

/// Write inputs and what the program does on them as a suite that `cairn check` replays
#[derive(Debug, clap::Args)]
pub struct Export {
    #[command(flatten)]
    target: TargetArgs,
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    suite: PathBuf,
    /// Keep only the smallest set of inputs that takes every branch, each without what it can do without
    #[arg(long)]
    distil: bool,
    /// Replace the suite that is there
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    format: u32,
    suite: String,
    program: String,
    tests: usize,
    endings: BTreeMap<String, usize>,
    left_out: Vec<LeftOut>,
    unstable: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize)]
struct LeftOut {
    file: String,
    why: String,
}

impl Export {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let replaces = self.force && Suite::is_one(&self.suite);
        if !replaces {
            minimize::check_folder(&self.suite, false).map_err(|failure| {
                match Suite::is_one(&self.suite) {
                    true => failure.hint("name another folder, or replace the suite with `--force`"),
                    false => failure.hint("name another folder; only a suite is replaced by `--force`"),
                }
            })?;
        }
        let subject = Subject::open(&self.target, &Wanted::USUAL, &|text| screen.progress(text))?;
        if subject.inputs.is_empty() {
            return Err(Failure::usage("no inputs were named")
                .hint("name files or folders of inputs: `cairn export --suite suite ./prog inputs/`"));
        }
        let corpus = corpus::load(&subject.inputs, &subject.template)?;
        for note in &corpus.notes {
            screen.warn(note);
        }
        if corpus.inputs.is_empty() {
            return Err(Failure::usage("none of the inputs can be read").hint("the warnings say why"));
        }
        let inputs = match self.distil {
            true => {
                let signals = Signals::catch()?;
                let config = DistilConfig { reducing: Reducing::Parts, killer: None, signals: &signals };
                let distilled = distil::distil(&subject, &corpus, &config, screen)?;
                // A suite of the best so far is nothing that was asked for.
                signals.let_go();
                signals.die_if_caught();
                minimize::warn(&distilled, screen);
                distilled.inputs
            }
            false => corpus.inputs,
        };
        let setup = Setup::new(&subject.config, subject.run_config.clone())?;
        let mut recorder = Recorder {
            bare: subject.bare()?,
            ordinary: subject.ordinary()?,
            comparer: Comparer::new(&setup, || subject.compare_function())?,
        };
        let mut recorded = Vec::new();
        let mut report = Report {
            format: 1,
            suite: self.suite.display().to_string(),
            program: subject.program.display().to_string(),
            tests: 0,
            endings: BTreeMap::new(),
            left_out: Vec::new(),
            unstable: BTreeMap::new(),
        };
        for (index, named) in inputs.iter().enumerate() {
            screen.progress(&format!("recording input {} of {}", index + 1, inputs.len()));
            match recorder.record(&named.input)? {
                Ok(expected) => recorded.push((named.clone(), expected)),
                Err(why) => {
                    let file = named.path.display().to_string();
                    screen.warn(&format!("`{file}` was left out: {why}"));
                    report.left_out.push(LeftOut { file, why });
                }
            }
        }
        if recorded.is_empty() {
            return Err(Failure::usage("no input is left to make a test of")
                .hint("`cairn replay` shows what the program does on an input"));
        }
        for (_, expected) in &recorded {
            *report.endings.entry(crate::commands::cover::verb(&expected.ending)).or_default() += 1;
        }
        self.write(&subject, recorded, &mut report)?;
        match self.json {
            true => screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON")),
            false => screen.result(text(&report).trim_end()),
        }
        Ok(Exit::Done)
    }

    fn write(
        &self,
        subject: &Subject,
        recorded: Vec<(NamedInput, Expected)>,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let tests = named_tests(recorded);
        for test in &tests {
            for part in &test.expected.unstable {
                report.unstable.entry(part.clone()).or_default().push(test.name.clone());
            }
        }
        report.tests = tests.len();
        let program = subject.run_config.program_name.clone().unwrap_or_else(|| subject.record.name.clone());
        let manifest = Manifest::new(program, subject.config.oracle.clone(), subject.config.run.clone());
        if self.force {
            Suite::remove(&self.suite)?;
        }
        Suite::write(&self.suite, &manifest, &tests)
    }
}

/// Runs inputs on the bare build, whose outcomes are recorded, and on the program as the user built it.
struct Recorder {
    bare: Executor,
    ordinary: Executor,
    comparer: Comparer,
}

impl Recorder {
    /// What to expect, or why nothing can be. What the two builds do not have in common is no property of the program.
    fn record(&mut self, input: &Input) -> Result<Result<Expected, String>, Failure> {
        let runs = [self.bare.run(input)?, self.bare.run(input)?, self.ordinary.run(input)?];
        record::expected(&mut self.comparer, &runs.map(|execution| execution.outcome))
    }
}

fn text(report: &Report) -> String {
    let mut lines = Vec::new();
    let mut row = |name: &str, text: String| lines.push(format!("  {name:<10} {text}"));
    row("suite", format!("{}: {} of {}", report.suite, count(report.tests, "test"), report.program));
    let endings: Vec<String> = report.endings.iter().map(|(ending, n)| format!("{n} {ending}")).collect();
    row("endings", endings.join(", "));
    for (part, names) in &report.unstable {
        row("unstable", format!("{part} of {}: not compared", count(names.len(), "test")));
    }
    if !report.left_out.is_empty() {
        row("left out", count(report.left_out.len(), "input"));
    }
    row("check", format!("cairn check {} --suite {}", report.program, report.suite));
    lines.join("\n") + "\n"
}
