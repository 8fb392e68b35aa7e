//! `cairn replay`: runs one input and tells everything about the run.

use crate::{
    commands::cover::verb,
    exit_code::Exit,
    failure::Failure,
    inputs::{self, NamedInput},
    screen::Screen,
    shell,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_campaign::SanitizedBuild;
use cairn_cc::views::Sanitizer;
use cairn_executor::{Explained, RunConfig};
use cairn_model::{
    Coverage, Ending, Frame, Input, Outcome,
    outcome::{Captured, Comparison, FileChange},
};
use serde::Serialize;
use std::collections::BTreeSet;

/// Run one input on the bare build and the plain view and show what happened
#[derive(Debug, clap::Args)]
pub struct Replay {
    #[command(flatten)]
    target: TargetArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Also compute the order-sensitive hash of the path
    #[arg(long)]
    path_hash: bool,
    /// Also run a build with sanitizers, made from the sources: address, undefined or both
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    sanitize: Vec<Sanitizer>,
}

/// A failure, named by what went wrong and where.
#[derive(Serialize)]
struct Told {
    kind: String,
    signature: String,
    stack: Vec<Frame>,
    report: String,
}

impl From<Explained> for Told {
    fn from(explained: Explained) -> Self {
        let Explained { kind, signature, stack, report, .. } = explained;
        Self { kind, signature, stack, report }
    }
}

/// What a build with sanitizers does.
#[derive(Serialize)]
struct Sanitized {
    summary: String,
    failure: Option<Told>,
}

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    file: String,
    address: String,
    input: &'a Input,
    outcome: Outcome,
    summary: String,
    failure: Option<Told>,
    sanitized: Option<Sanitized>,
    stable: bool,
    unstable_parts: Vec<String>,
    refused: Vec<String>,
    view_agrees: bool,
    view_differs_in: Vec<String>,
    view_unknown_in: Vec<String>,
    ordinary_differs_in: Vec<String>,
    ordinary_summary: String,
    hint: Option<String>,
    branches_covered: usize,
    branches: usize,
    lines_covered: usize,
    lines: usize,
    path_hash: Option<String>,
    reproduce: String,
}

impl Replay {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let wanted = Wanted { path: self.path_hash, ..Wanted::USUAL };
        let subject = Subject::open(&self.target, &wanted, &|text| screen.progress(text))?;
        let inputs = inputs::load(&subject.inputs, &subject.template)?;
        let inputs = match inputs.is_empty() {
            true => vec![NamedInput { path: "(empty)".into(), input: subject.template.fill(Vec::new()) }],
            false => inputs,
        };
        let kinds: BTreeSet<Sanitizer> = self.sanitize.iter().copied().collect();
        let mut sanitized = match kinds.is_empty() {
            true => None,
            false => {
                let program = subject.build_sanitized(&kinds, &|text| screen.progress(text))?;
                Some(subject.sanitized(&program)?)
            }
        };
        let mut exit = Exit::Done;
        for named in &inputs {
            let report = replay(&subject, named, sanitized.as_mut())?;
            let sanitizers_found =
                report.sanitized.as_ref().is_some_and(|sanitized| sanitized.failure.is_some());
            if report.outcome.ending.is_failure() || sanitizers_found {
                exit = Exit::Findings;
            }
            if self.json {
                screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON"));
            } else {
                screen.result(text(&report).trim_end());
            }
        }
        Ok(exit)
    }
}

fn replay<'a>(
    subject: &Subject,
    named: &'a NamedInput,
    sanitized: Option<&mut SanitizedBuild>,
) -> Result<Report<'a>, Failure> {
    let input = &named.input;
    let stability = subject.bare()?.run_twice(input)?;
    let bare = stability.first.clone();
    let plain = subject.plain()?.run(input)?;
    subject.check_reported(&plain)?;
    let ordinary = subject.ordinary()?.run(input)?;
    let path_hash = match subject.path()? {
        Some(mut executor) => Some(format!("{:016x}", executor.run(input)?.path_hash)),
        None => None,
    };
    let failure = match bare.outcome.ending.is_failure() {
        true => Some(subject.explainer()?.explain(input, &bare.outcome.ending)?.into()),
        false => None,
    };
    let sanitized = sanitized.map(|sanitized| run_sanitized(sanitized, input)).transpose()?;
    let mut coverage = Coverage::empty(&subject.map);
    coverage.add(&plain.counters);
    let lines = coverage.lines(&subject.map);
    // What differs between two runs of the same build says nothing about another.
    let masked = |parts: Vec<String>| -> Vec<String> {
        parts.into_iter().filter(|part| !stability.unstable.contains(part)).collect()
    };
    let (view_differs_in, view_unknown_in) = match bare.outcome.compare(&plain.outcome) {
        Comparison::Same => (Vec::new(), Vec::new()),
        Comparison::Different(parts) => (masked(parts), Vec::new()),
        Comparison::Unknown(parts) => (Vec::new(), parts),
    };
    let ordinary_differs_in = match bare.outcome.compare(&ordinary.outcome) {
        Comparison::Different(parts) => masked(parts),
        Comparison::Same | Comparison::Unknown(_) => Vec::new(),
    };
    let program = std::fs::canonicalize(&subject.program).unwrap_or_else(|_| subject.program.clone());
    let before_main = plain.outcome.reached_main == Some(false);
    let summary = match before_main && bare.outcome.ending.is_failure() {
        true => format!("{}, before `main` was entered", verb(&bare.outcome.ending)),
        false => verb(&bare.outcome.ending),
    };
    Ok(Report {
        format: 1,
        file: named.path.display().to_string(),
        address: input.address(),
        input,
        summary,
        failure,
        sanitized,
        stable: stability.is_stable(),
        unstable_parts: stability.unstable,
        refused: bare.refused,
        view_agrees: view_differs_in.is_empty(),
        view_differs_in,
        view_unknown_in,
        ordinary_differs_in,
        ordinary_summary: verb(&ordinary.outcome.ending),
        hint: advice(&bare.outcome.ending, &subject.run_config),
        branches_covered: coverage.n_branches(&subject.map),
        branches: 2 * subject.map.conditions.len(),
        lines_covered: lines.values().filter(|executed| **executed).count(),
        lines: lines.len(),
        path_hash,
        reproduce: shell::reproduce(&program.to_string_lossy(), input),
        outcome: bare.outcome,
    })
}

fn run_sanitized(build: &mut SanitizedBuild, input: &Input) -> Result<Sanitized, Failure> {
    let ending = build.runner.run(input)?.outcome.ending;
    let failure = match ending.is_failure() {
        true => Some(build.explainer.explain(input, &ending)?.into()),
        false => None,
    };
    Ok(Sanitized { summary: verb(&ending), failure })
}

fn text(report: &Report) -> String {
    let mut lines = vec![format!("  input      {} ({})", report.file, report.address)];
    for line in report.input.to_string().lines() {
        lines.push(format!("             {line}"));
    }
    lines.push(format!("  outcome    {}", report.summary));
    lines.extend(report.failure.iter().flat_map(|failure| told("failure", failure)));
    if let Some(hint) = &report.hint {
        lines.push(format!("  hint       {hint}"));
    }
    match &report.sanitized {
        Some(Sanitized { failure: Some(failure), .. }) => lines.extend(told("sanitized", failure)),
        Some(Sanitized { summary, failure: None }) => lines.push(format!("  sanitized  {summary}")),
        None => {}
    }
    for (name, captured) in [
        ("stdout", &report.outcome.stdout),
        ("stderr", &report.outcome.stderr),
        ("output", &report.outcome.harness_output),
    ] {
        if captured.total > 0 {
            lines.push(format!("  {name:<10} {}", shown(captured)));
        }
    }
    for (path, change) in &report.outcome.files {
        let what = match change {
            FileChange::Written { content, .. } => format!("written: {}", shown(content)),
            FileChange::Folder => "folder made".into(),
            FileChange::Link { target } => format!("link to {target:?}"),
            FileChange::Special { kind, .. } => format!("{kind} made"),
            FileChange::Removed => "removed".into(),
        };
        lines.push(format!("  file       {path}: {what}"));
    }
    if report.outcome.files_cut {
        lines.push("  files      the run left more files than were looked at".into());
    }
    lines.push(format!(
        "  covered    {} / {} branches, {} / {} lines",
        report.branches_covered, report.branches, report.lines_covered, report.lines
    ));
    if let Some(hash) = &report.path_hash {
        lines.push(format!("  path       {hash}"));
    }
    if !report.refused.is_empty() {
        lines.push(format!("  refused    by the sandbox: {}", report.refused.join(", ")));
    }
    if !report.stable {
        lines.push(format!("  unstable   two runs differ in {}", report.unstable_parts.join(", ")));
    }
    if !report.view_unknown_in.is_empty() {
        lines.push(format!("  view       too long to compare: {}", report.view_unknown_in.join(", ")));
    }
    if !report.view_agrees {
        lines.push(format!(
            "  view       differs from the bare build in {}",
            report.view_differs_in.join(", ")
        ));
    }
    if !report.ordinary_differs_in.is_empty() {
        let parts = report.ordinary_differs_in.join(", ");
        lines
            .push(format!("  ordinary   the program as you built it differs from the bare build in {parts}"));
    }
    lines.push(match report.reproduce.len() {
        length if length > LONG_COMMAND => {
            format!("  reproduce  a command of {length} bytes; `--json` prints it")
        }
        _ => format!("  reproduce  {}", report.reproduce),
    });
    lines.join("\n") + "\n"
}

/// What went wrong, and where.
fn told(title: &str, failure: &Told) -> Vec<String> {
    const N_FRAMES: usize = 12;
    let mut lines = vec![format!("  {title:<10} {}", failure.kind)];
    for (index, frame) in failure.stack.iter().take(N_FRAMES).enumerate() {
        let title = if index == 0 { "at" } else { "" };
        lines.push(format!("  {title:<10} {frame}"));
    }
    if let n @ 1.. = failure.stack.len().saturating_sub(N_FRAMES) {
        lines.push(format!("             and {n} more"));
    }
    lines
}

/// What a person can do about an ending.
fn advice(ending: &Ending, config: &RunConfig) -> Option<String> {
    let megabytes = |bytes: u64| bytes >> 20;
    Some(match ending {
        Ending::TimedOut => {
            format!(
                "the limit is {} ms; raise `run.wall_limit_ms` if it only needs longer",
                config.wall_limit.as_millis()
            )
        }
        Ending::OutOfFuel => format!("the limit is {} steps, set from what other inputs need", config.fuel),
        Ending::OutOfMemory => {
            let limit = megabytes(config.memory_limit);
            format!("the limit is {limit} MB; raise `run.memory_limit_mb` if it only needs more")
        }
        Ending::TooMuchOutput => format!("a run may write {} MB into one file", megabytes(config.file_limit)),
        Ending::Forbidden { .. } => {
            "for a program you trust use `--sandbox off`; `run.allow_exec` lets it run other programs".into()
        }
        Ending::Stopped => "it sent itself a stop signal; nobody would continue it in a test".into(),
        Ending::AssumptionFailed => {
            "the input is not one the program wants: choose values its assumptions allow".into()
        }
        Ending::DeliveryMismatch => "give the variable the type and size the program asks for".into(),
        Ending::Exited { .. } | Ending::Signalled { .. } | Ending::GuidepostBroken => return None,
    })
}

/// Commands beyond this length help nobody on a screen.
const LONG_COMMAND: usize = 16 << 10;

/// At most a few lines of output.
fn shown(captured: &Captured) -> String {
    const LIMIT: usize = 400;
    let bytes = &captured.bytes.0;
    let cut = &bytes[..bytes.len().min(LIMIT)];
    let mut text = format!("\"{}\"", cut.escape_ascii());
    if captured.is_truncated() || bytes.len() > LIMIT {
        text.push_str(&format!(" … ({} bytes)", captured.total));
    }
    text
}
