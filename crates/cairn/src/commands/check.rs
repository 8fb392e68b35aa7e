//! `cairn check`: whether a program still does what a suite says.

use crate::{
    commands::score::Setup,
    config::Config,
    exit_code::Exit,
    failure::Failure,
    screen::{Screen, count},
    shell,
    suite::{
        Comparer, Difference, Suite, Test,
        junit::{self, Case},
        record,
    },
    surroundings,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_executor::{CompareFunction, Execution, Executor, RunConfig, SandboxLevel, Target};
use cairn_model::Ending;
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// Replay a suite against a build of the program and tell what changed
#[derive(Debug, clap::Args)]
pub struct Check {
    /// The program, built with any compiler (default: `target.program` in `cairn.toml`)
    program: Option<PathBuf>,
    /// The suite that `cairn export` wrote
    #[arg(long, value_name = "DIR")]
    suite: PathBuf,
    /// What the suite calls the program, if this file has another name
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Take what the program does now for what it shall do
    #[arg(long)]
    update: bool,
    /// How well runs are contained: full, basic or off
    #[arg(long, value_name = "LEVEL")]
    sandbox: Option<SandboxLevel>,
}

/// A run that takes too long is given so many times the limit: a busy machine changes no program.
const PATIENCE: u32 = 10;

/// One test that was run.
#[derive(Serialize)]
struct Checked<'a> {
    name: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "<[Difference]>::is_empty")]
    differences: Vec<Difference>,
    #[serde(skip)]
    elapsed: Duration,
    #[serde(skip)]
    test: &'a Test,
}

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Status {
    /// It does what it did.
    Same,
    /// It does something else.
    Changed,
    /// It did something else, and in a second run what it did before.
    Unstable,
    /// It does something else, and that is what it shall do from now on.
    Updated,
}

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    suite: String,
    program: String,
    tests: usize,
    changed: usize,
    updated: usize,
    results: &'a [Checked<'a>],
}

impl Check {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let suite = Suite::read(&self.suite)?;
        let local = Config::load(&surroundings::places()?.directory)?;
        let program = self.program.clone().or(local.target.program.as_ref().map(PathBuf::from));
        let program = program.ok_or_else(|| {
            Failure::usage("no program was named").hint("name one: `cairn check ./prog --suite suite`")
        })?;
        self.check_name(&program, &suite)?;
        // What counts is the suite's matter, and how runs are contained that of this machine.
        let config = Config {
            oracle: suite.manifest.oracle.clone(),
            run: suite.manifest.run.clone(),
            ..local.clone()
        };
        let level = self.sandbox.unwrap_or(local.run_config(None)?.level);
        let run_config = RunConfig {
            program_name: Some(suite.manifest.program.clone()),
            ..config.run_config(Some(level))?
        };
        let mut runner = Runner {
            executor: Executor::new(Target { program: program.clone(), n_counters: 0 }, run_config.clone())?,
            comparer: Comparer::new(&Setup::new(&config, run_config.clone())?, || {
                self.compare_function(&program, screen)
            })?,
            wall_limit: run_config.wall_limit,
            program: &program,
            n_deliveries: (0, 0),
        };
        let mut results = Vec::new();
        for (index, test) in suite.tests.iter().enumerate() {
            screen.progress(&format!("running test {} of {}", index + 1, suite.tests.len()));
            let mut checked = runner.check(test)?;
            if self.update && checked.status != Status::Same {
                self.update(&suite, &mut runner, &mut checked, screen)?;
            }
            results.push(checked);
        }
        runner.check_delivered()?;
        if let Some(path) = &self.junit {
            fn case<'a>(checked: &'a Checked<'_>) -> Case<'a> {
                Case {
                    name: checked.name,
                    elapsed: checked.elapsed,
                    differences: match checked.status {
                        Status::Same | Status::Updated => &[],
                        Status::Changed | Status::Unstable => &checked.differences,
                    },
                }
            }
            let cases: Vec<Case> = results.iter().map(case).collect();
            let text = junit::render(&suite.manifest.program, &cases);
            fs::write(path, text)
                .map_err(|error| Failure::usage(format!("failed to write `{}`: {error}", path.display())))?;
        }
        let n = |status: Status| results.iter().filter(|checked| checked.status == status).count();
        let report = Report {
            format: 1,
            suite: self.suite.display().to_string(),
            program: program.display().to_string(),
            tests: results.len(),
            changed: n(Status::Changed) + n(Status::Unstable),
            updated: n(Status::Updated),
            results: &results,
        };
        match self.json {
            true => screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON")),
            false => screen.result(text(&report, &suite).trim_end()),
        }
        Ok(if report.changed > 0 { Exit::Changed } else { Exit::Done })
    }

    /// Refuses a suite that was made for another program.
    fn check_name(&self, program: &Path, suite: &Suite) -> Result<(), Failure> {
        let own = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let own = self.name.as_ref().unwrap_or(&own);
        let recorded = &suite.manifest.program;
        if own == recorded {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "the suite `{}` was made for `{recorded}`, not for `{own}`",
            self.suite.display()
        ))
        .hint(format!("if it is the same program under another name, say so: `--as {recorded}`")))
    }

    /// The `cairn_compare` of the program that is checked: outputs of today are compared as the program of today does it.
    fn compare_function(&self, program: &Path, screen: &Screen) -> Result<CompareFunction, Failure> {
        let target =
            TargetArgs { words: vec![program.to_path_buf()], sandbox: self.sandbox, ..TargetArgs::default() };
        let subject = Subject::open(&target, &Wanted::USUAL, &|text| screen.progress(text));
        let function = subject.and_then(|subject| subject.compare_function());
        function.map_err(|failure| {
            let suite = self.suite.join("suite.toml");
            Failure::usage(format!(
                "the suite has outputs compared by `cairn_compare`, which cannot be asked: {}",
                failure.message
            ))
            .hint(format!(
                "build `{}` with `cairn-cc`; or name a command in `{}`: `compare = [\"./same\", \"{{original}}\", \
                 \"{{mutant}}\"]`",
                program.display(),
                suite.display(),
            ))
        })
    }

    /// Records a test that changed anew.
    fn update(
        &self,
        suite: &Suite,
        runner: &mut Runner<'_>,
        checked: &mut Checked<'_>,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let runs = [runner.run(checked.test)?, runner.run(checked.test)?, runner.run(checked.test)?];
        match record::expected(&mut runner.comparer, &runs.map(|execution| execution.outcome))? {
            Ok(expected) => {
                suite.update(checked.name, &expected)?;
                checked.status = Status::Updated;
            }
            Err(why) => screen.warn(&format!("`{}` was not updated: {why}", checked.name)),
        }
        Ok(())
    }
}

/// Runs tests on a program.
struct Runner<'a> {
    executor: Executor,
    comparer: Comparer,
    wall_limit: Duration,
    program: &'a Path,
    /// Tests that hand something over through our channel, and those that asked for it.
    n_deliveries: (usize, usize),
}

impl Runner<'_> {
    fn check<'t>(&mut self, test: &'t Test) -> Result<Checked<'t>, Failure> {
        let execution = self.run(test)?;
        let differences = self.comparer.differences(&test.expected, &execution.outcome)?;
        let mut checked = Checked {
            name: &test.name,
            status: Status::Same,
            differences,
            elapsed: execution.outcome.elapsed,
            test,
        };
        if !checked.differences.is_empty() {
            checked.status = Status::Changed;
            // A hang had its second chance.
            if execution.outcome.ending != Ending::TimedOut {
                let again = self.run(test)?;
                if self.comparer.differences(&test.expected, &again.outcome)?.is_empty() {
                    checked.status = Status::Unstable;
                }
            }
        }
        Ok(checked)
    }

    fn run(&mut self, test: &Test) -> Result<Execution, Failure> {
        let mut execution = self.executor.run(&test.input)?;
        if execution.outcome.ending == Ending::TimedOut && test.expected.ending != Ending::TimedOut {
            self.executor.set_wall_limit(self.wall_limit * PATIENCE);
            execution = self.executor.run(&test.input)?;
            self.executor.set_wall_limit(self.wall_limit);
        }
        if test.input.buffer.is_some() || !test.input.variables.is_empty() {
            self.n_deliveries.0 += 1;
            self.n_deliveries.1 += usize::from(execution.stage.is_some());
        }
        // A harness asks for its buffer at once.
        if test.input.buffer.is_some() && execution.stage.is_none() {
            self.check_delivered()?;
        }
        Ok(execution)
    }

    /// Fails if the program cannot get what the suite hands over.
    fn check_delivered(&self) -> Result<(), Failure> {
        match self.n_deliveries {
            (1.., 0) => Err(Failure::target(format!(
                "`{}` does not ask for the typed variables or buffers of the suite",
                self.program.display()
            ))
            .hint("build it with `cairn-cc`, or link `lib/cairn/libcairn_deliver.a` to it")),
            _ => Ok(()),
        }
    }
}

fn text(report: &Report<'_>, suite: &Suite) -> String {
    let mut lines = Vec::new();
    let manifest = &suite.manifest;
    lines.push(format!(
        "  suite      {}: {} of `{}`, recorded by {}",
        report.suite,
        count(report.tests, "test"),
        manifest.program,
        manifest.recorded_by
    ));
    lines.push(format!("  program    {}", report.program));
    let n_same = report.results.iter().filter(|checked| checked.status == Status::Same).count();
    lines.push(format!("  same       {n_same} of {}", report.tests));
    if report.changed > 0 {
        lines.push(format!("  changed    {} of {}", report.changed, report.tests));
    }
    if report.updated > 0 {
        lines.push(format!("  updated    {} of {}", report.updated, report.tests));
    }
    for checked in report.results.iter().filter(|checked| checked.status != Status::Same) {
        lines.push(String::new());
        lines.push(match checked.status {
            Status::Updated => format!("updated: {}", checked.name),
            Status::Unstable => format!("changed: {} (a second run did what was recorded)", checked.name),
            _ => format!("changed: {}", checked.name),
        });
        for line in checked.test.input.to_string().lines() {
            lines.push(format!("  {}", cut(line)));
        }
        for difference in &checked.differences {
            match &difference.lines[..] {
                [line] => lines.push(format!("  {}: {line}", difference.part)),
                several => {
                    lines.push(format!("  {}:", difference.part));
                    lines.extend(several.iter().map(|line| format!("    {line}")));
                }
            }
        }
        let program = fs::canonicalize(&report.program).unwrap_or_else(|_| PathBuf::from(&report.program));
        let command = shell::reproduce(&program.to_string_lossy(), &checked.test.input);
        lines.push(match command.len() {
            length if length > LONG_COMMAND => {
                format!("  input: {}", suite.input_file(checked.name).display())
            }
            _ => format!("  reproduce: {command}"),
        });
    }
    lines.join("\n") + "\n"
}

/// Commands beyond this length help nobody on a screen.
const LONG_COMMAND: usize = 2 << 10;

/// The start of a long line.
fn cut(line: &str) -> String {
    const WIDTH: usize = 200;
    match line.char_indices().nth(WIDTH) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
