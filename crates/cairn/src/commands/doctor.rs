//! `cairn doctor`: proves each link of the chain, on this machine and on the user's own target.

use crate::{
    commands::{build::left_out, cover::verb},
    exit_code::Exit,
    failure::Failure,
    inputs::{self, NamedInput},
    screen::{Screen, count},
    surroundings,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_executor::{Calibration, RunConfig, SandboxLevel, SessionMode, Verification, sandbox};
use cairn_model::{Coverage, Input, outcome::Comparison};
use serde::Serialize;

/// Check this machine and, if one is named, a target
#[derive(Debug, clap::Args)]
pub struct Doctor {
    #[command(flatten)]
    target: TargetArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Check {
    name: String,
    state: State,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Ok,
    Warning,
    Failed,
}

#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn add(&mut self, name: &str, state: State, detail: impl Into<String>) {
        self.0.push(Check { name: name.to_string(), state, detail: detail.into() });
    }

    fn has_failed(&self) -> bool {
        self.0.iter().any(|check| check.state == State::Failed)
    }
}

impl Doctor {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let mut checks = Checks::default();
        machine(&mut checks)?;
        let names_target = !self.target.words.is_empty()
            || crate::config::Config::load(&surroundings::places()?.directory)?.target.program.is_some();
        if names_target {
            match Subject::open(&self.target, &Wanted::USUAL, &|text| screen.progress(text)) {
                Ok(subject) => target(&mut checks, &subject)?,
                Err(failure) => {
                    let hint = failure.hint.map(|hint| format!(" (try: {hint})")).unwrap_or_default();
                    checks.add("target", State::Failed, failure.message + &hint);
                }
            }
        }
        if self.json {
            screen.result(&serde_json::to_string_pretty(&checks.0).expect("checks are always JSON"));
        } else {
            for check in &checks.0 {
                let mark = match check.state {
                    State::Ok => "ok     ",
                    State::Warning => "warning",
                    State::Failed => "failed ",
                };
                screen.result(&format!("  {mark}  {:<16} {}", check.name, check.detail));
            }
        }
        Ok(if checks.has_failed() { Exit::Target } else { Exit::Done })
    }
}

fn machine(checks: &mut Checks) -> Result<(), Failure> {
    let places = surroundings::places()?;
    match surroundings::toolchain(&places) {
        Ok(toolchain) => checks.add("toolchain", State::Ok, format!("`{}`", toolchain.clang.display())),
        Err(failure) => {
            let hint = failure.hint.map(|hint| format!(" (try: {hint})")).unwrap_or_default();
            checks.add("toolchain", State::Failed, failure.message + &hint);
        }
    }
    let ours = surroundings::distribution()?;
    for (name, path) in [
        ("cairn-cc", &ours.compiler),
        ("instrumenter", &ours.instrument),
        ("runtime", &ours.runtime_archive),
        ("delivery", &ours.deliver_archive),
        ("headers", &ours.include_dir),
    ] {
        let state = if path.exists() { State::Ok } else { State::Failed };
        let detail = if path.exists() {
            format!("`{}`", path.display())
        } else {
            format!("`{}` is missing", path.display())
        };
        checks.add(name, state, detail);
    }
    let report = sandbox::probe(&RunConfig::default().base_folder);
    for (name, layer) in
        [("namespaces", &report.namespaces), ("landlock", &report.landlock), ("seccomp", &report.seccomp)]
    {
        checks.add(name, if layer.works() { State::Ok } else { State::Warning }, layer.to_string());
    }
    let level = report.level();
    let state = match level {
        SandboxLevel::Full => State::Ok,
        _ => State::Warning,
    };
    checks.add("sandbox", state, format!("level `{level}` can be reached"));
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    if pattern.starts_with('|') {
        checks.add("core pattern", State::Warning, "crashes are piped to a program, which slows runs down");
    }
    Ok(())
}

fn target(checks: &mut Checks, subject: &Subject) -> Result<(), Failure> {
    let map = &subject.map;
    let n_units = subject.record.units.len();
    checks.add(
        "bitcode",
        State::Ok,
        format!("{n_units} units, `{}`", subject.record.bitcode_path().display()),
    );
    for warning in &subject.views.warnings {
        checks.add("instrumented", State::Warning, warning.clone());
    }
    let n_functions = map.functions.iter().filter(|function| function.in_scope).count();
    let state = if map.conditions.is_empty() { State::Warning } else { State::Ok };
    checks.add(
        "map",
        state,
        format!("{n_functions} functions, {} branches, {} sites", 2 * map.conditions.len(), map.sites.len()),
    );
    let n_joined = map.conditions.iter().filter(|condition| condition.is_joined).count();
    let state = if n_joined == map.conditions.len() { State::Ok } else { State::Warning };
    checks.add("facts", state, format!("joined to {n_joined} of {} conditions", map.conditions.len()));
    for (reason, n) in left_out(subject) {
        checks.add("left out", State::Ok, format!("{n}: {reason}"));
    }
    let mut inputs = inputs::load(&subject.inputs, &subject.template)?;
    if inputs.is_empty() {
        inputs.push(NamedInput { path: "(empty input)".into(), input: subject.template.fill(Vec::new()) });
    }
    let sample = &inputs[0];
    let stability = subject.bare()?.run_twice(&sample.input)?;
    let bare = &stability.first;
    checks.add(
        "bare build",
        State::Ok,
        format!("`{}` {}", sample.path.display(), verb(&bare.outcome.ending)),
    );
    if !stability.is_stable() {
        checks.add(
            "stability",
            State::Warning,
            format!("two runs differ in {}", stability.unstable.join(", ")),
        );
    } else if !stability.unknown.is_empty() {
        let parts = stability.unknown.join(", ");
        checks.add("stability", State::Warning, format!("outputs too long to compare: {parts}"));
    } else {
        checks.add("stability", State::Ok, "two runs agree");
    }
    if !bare.refused.is_empty() {
        checks.add("refused", State::Warning, format!("the sandbox refuses {}", bare.refused.join(", ")));
    }
    let plain = subject.plain()?.run(&sample.input)?;
    if let Err(failure) = subject.check_reported(&plain) {
        checks.add("plain view", State::Failed, failure.message);
        return Ok(());
    }
    let reached = match plain.outcome.reached_main {
        Some(false) => (State::Failed, "the program ended before `main`".to_string()),
        _ => {
            let mut coverage = Coverage::empty(map);
            coverage.add(&plain.counters);
            let n = coverage.n_branches(map);
            let state = if n == 0 { State::Warning } else { State::Ok };
            (state, format!("`main` was entered and {} covered", count(n, "branch")))
        }
    };
    checks.add("plain view", reached.0, reached.1);
    match bare.outcome.compare(&plain.outcome) {
        Comparison::Same => checks.add("agreement", State::Ok, "plain view and bare build agree"),
        Comparison::Different(parts) => {
            let is_stable = |part: &String| !stability.unstable.contains(part);
            let parts: Vec<String> = parts.into_iter().filter(is_stable).collect();
            if parts.is_empty() {
                checks.add("agreement", State::Ok, "plain view and bare build agree where runs are stable");
            } else {
                let detail = format!("plain view and bare build differ in {}", parts.join(", "));
                checks.add("agreement", State::Failed, detail);
            }
        }
        Comparison::Unknown(parts) => {
            checks.add(
                "agreement",
                State::Warning,
                format!("outputs too long to compare: {}", parts.join(", ")),
            );
        }
    }
    session(checks, subject, &inputs)
}

/// Inputs whose runs in a session are compared with fresh ones.
const MAX_COMPARED: usize = 256;

/// What a session makes of the inputs: whether they run from a snapshot, and how much fuel they need.
fn session(checks: &mut Checks, subject: &Subject, inputs: &[NamedInput]) -> Result<(), Failure> {
    let mut session = subject.session()?;
    let compared: Vec<Input> = inputs.iter().take(MAX_COMPARED).map(|named| named.input.clone()).collect();
    let (state, detail) = match session.mode() {
        SessionMode::Fresh { .. } => (State::Warning, session.mode().to_string()),
        SessionMode::Live(_) => snapshot(&session.verify(&compared)?, inputs),
    };
    checks.add("snapshot", state, detail);
    let (state, detail) = fuel(&session.calibrate(&compared)?, compared.len());
    checks.add("fuel", state, detail);
    Ok(())
}

/// How many inputs run from a snapshot, why others do not, and whether it changes anything.
fn snapshot(verification: &Verification, inputs: &[NamedInput]) -> (State, String) {
    if let Some((index, parts)) = verification.differences.first() {
        let detail = format!(
            "runs from a snapshot differ from fresh ones on {}, first `{}` in {}",
            count(verification.differences.len(), "input"),
            inputs[*index].path.display(),
            parts.join(", ")
        );
        return (State::Failed, detail);
    }
    let n_live = verification.n_live();
    let mut detail = format!("live on {n_live} of {}", count(verification.n_inputs, "input"));
    if n_live > verification.n_unstable {
        detail += ", equal to fresh processes";
    }
    for (reason, n) in &verification.needs_fork {
        detail += &format!("; fresh on {n}: {reason}");
    }
    if verification.n_unstable > 0 {
        detail += &format!("; on {} fresh runs differ from each other", verification.n_unstable);
    }
    (if n_live == 0 { State::Warning } else { State::Ok }, detail)
}

/// What the inputs use, and the limit by which hangs would be told.
fn fuel(calibration: &Calibration, n_inputs: usize) -> (State, String) {
    let Calibration { limit, most_used, n_timed_out } = *calibration;
    if n_timed_out == n_inputs {
        return (State::Warning, format!("limit {limit} is a guess, because every input ran out of time"));
    }
    let mut detail = format!("limit {limit}, of which the inputs use at most {most_used}");
    if n_timed_out > 0 {
        detail += &format!("; {} ran out of time and had no say", count(n_timed_out, "input"));
    }
    (State::Ok, detail)
}
