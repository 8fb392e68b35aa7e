//! `cairn cover`: which lines and branches a set of inputs executes.

use crate::{
    exit_code::Exit,
    failure::Failure,
    inputs::{self, NamedInput},
    report::{self, text::Detail},
    screen::Screen,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_executor::Executor;
use cairn_model::{Coverage, Ending};
use std::{collections::BTreeMap, fs, path::PathBuf};

/// Measure the lines and branches that inputs execute
#[derive(Debug, clap::Args)]
pub struct Cover {
    #[command(flatten)]
    target: TargetArgs,
    /// text, json or lcov
    #[arg(long, default_value = "text")]
    format: Format,
    /// Also list every branch nobody took
    #[arg(long)]
    missing: bool,
    /// Report only the branches these inputs reach beyond those of another file or folder of inputs
    #[arg(long, value_name = "INPUTS", conflicts_with = "format")]
    beyond: Vec<PathBuf>,
    /// Write the report to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Lcov,
}

impl Cover {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let subject = Subject::open(&self.target, &Wanted::USUAL, &|text| screen.progress(text))?;
        let inputs = inputs::load(&subject.inputs, &subject.template)?;
        if inputs.is_empty() {
            return Err(Failure::usage("no inputs were named")
                .hint("name files or folders of inputs: `cairn cover ./prog inputs/`"));
        }
        let mut executor = subject.plain()?;
        let baseline = inputs::load(&self.beyond, &subject.template)?;
        let baseline = run_all(screen, &subject, &mut executor, &baseline)?.coverage;
        let Runs { coverage, failures, refused } = run_all(screen, &subject, &mut executor, &inputs)?;
        for (path, ending) in &failures {
            screen.warn(&format!("`{}` {}", path.display(), verb(ending)));
        }
        for (call, n_inputs) in &refused {
            screen.warn(&format!(
                "the sandbox refused `{call}` on {n_inputs} inputs, so they may have gone other ways"
            ));
        }
        let report = match self.format {
            _ if !self.beyond.is_empty() => report::beyond::render(&subject.map, &coverage, &baseline),
            Format::Text => {
                let detail = if self.missing { Detail::Missing } else { Detail::Files };
                report::text::render(&subject.map, &coverage, detail)
            }
            Format::Json => report::json::render(&subject.map, &coverage),
            Format::Lcov => report::lcov::render(&subject.map, &coverage),
        };
        match &self.output {
            Some(path) => fs::write(path, report)
                .map_err(|error| Failure::usage(format!("failed to write `{}`: {error}", path.display())))?,
            None => screen.result(report.trim_end()),
        }
        Ok(if failures.is_empty() { Exit::Done } else { Exit::Findings })
    }
}

/// What came of running inputs.
struct Runs {
    coverage: Coverage,
    /// Inputs on which the program failed.
    failures: Vec<(PathBuf, Ending)>,
    /// System calls the sandbox refused, with the number of inputs.
    refused: BTreeMap<String, usize>,
}

/// Runs inputs and merges their coverage.
fn run_all(
    screen: &Screen,
    subject: &Subject,
    executor: &mut Executor,
    inputs: &[NamedInput],
) -> Result<Runs, Failure> {
    let mut runs =
        Runs { coverage: Coverage::empty(&subject.map), failures: Vec::new(), refused: BTreeMap::new() };
    for (index, named) in inputs.iter().enumerate() {
        screen.progress(&format!("running input {} of {}", index + 1, inputs.len()));
        let execution = executor.run(&named.input)?;
        subject.check_reported(&execution)?;
        runs.coverage.add(&execution.counters);
        for call in execution.refused {
            *runs.refused.entry(call).or_default() += 1;
        }
        if execution.outcome.ending.is_failure() {
            runs.failures.push((named.path.clone(), execution.outcome.ending));
        }
    }
    Ok(runs)
}

/// What a run did, after the name of its input.
pub fn verb(ending: &Ending) -> String {
    match ending {
        Ending::Exited { code } => format!("exits with {code}"),
        Ending::Signalled { signal } => format!("dies of {}", signal_name(*signal)),
        Ending::TimedOut => "hangs: it ran into the wall limit".into(),
        Ending::OutOfFuel => "hangs: it used up its fuel".into(),
        Ending::Stopped => "stops itself".into(),
        Ending::OutOfMemory => "runs out of memory".into(),
        Ending::AssumptionFailed => "breaks an assumption of the program".into(),
        Ending::GuidepostBroken => "breaks a guidepost".into(),
        Ending::Forbidden { what } => format!("tries what the sandbox forbids: {what}"),
        Ending::DeliveryMismatch => {
            "asks for a variable with another type or size than the input gives".into()
        }
        Ending::TooMuchOutput => "writes output without end".into(),
    }
}

fn signal_name(signal: i32) -> String {
    let names = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (5, "SIGTRAP"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
        (25, "SIGXFSZ"),
        (31, "SIGSYS"),
    ];
    names
        .iter()
        .find(|(number, _)| *number == signal)
        .map_or_else(|| format!("signal {signal}"), |(_, n)| n.to_string())
}
