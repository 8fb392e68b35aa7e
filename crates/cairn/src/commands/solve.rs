//! `cairn solve`: an input that takes another way.

use crate::{
    commands::cover::verb,
    concolic::{
        Traced, Tracer, describe,
        explore::{Effort, Explored, Solvers, explore},
        goal::Goal,
        patience::Until,
        value::{Evaluation, ValueGoal},
    },
    duration,
    exit_code::Exit,
    failure::Failure,
    inputs::{self, NamedInput},
    screen::{Screen, count},
    shell,
    signals::Signals,
    target::{Subject, TargetArgs, Wanted},
};
use cairn_abi::channel::TraceLevel;
use cairn_concolic::{
    Demands, Event, Flip, Path, Solved, Verification, flip, reach_value, verify, verify_value, verify_whole,
};
use cairn_executor::{Asked, SymbolicConfig};
use cairn_model::{Coverage, Input, Outcome};
use cairn_solver::{Budget, Solver, Standard, Strength, standard};
use serde::Serialize;
use std::{
    cell::Cell,
    path::PathBuf,
    str::FromStr,
    time::{Duration, Instant},
};

/// Find an input that decides a branch otherwise, comes to a line, or gives an expression a value, and replay it on the
/// bare build
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("goal").required(true).args(["branch", "line", "site"])))]
pub struct Solve {
    #[command(flatten)]
    target: TargetArgs,
    /// The condition to decide otherwise: its id (`cairn map`), or `FILE:LINE[:COLUMN]`, then perhaps `:true` or `:false`
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// The line to come to, `FILE:LINE`
    #[arg(long, value_name = "LINE")]
    line: Option<String>,
    /// The expression whose value is to be another, by its id (`cairn map --sites`)
    #[arg(long, value_name = "ID", requires = "value")]
    site: Option<String>,
    /// The value it is to have: `42`, `-1`, `0xff`, `'x'`, `0.5`, `true`
    #[arg(long, value_name = "VALUE", requires = "site", allow_hyphen_values = true)]
    value: Option<String>,
    /// Which evaluation, counted from 1 among those that depend on the input, or `all`; default: the first that can be had
    #[arg(long, value_name = "N|all")]
    occurrence: Option<Occurrence>,
    /// How many other inputs may be run on the way; default: 1000 for a line, 0 for a branch
    #[arg(long, value_name = "N", conflicts_with = "site")]
    runs: Option<usize>,
    /// How long to look, as `30s` or `5m`; default: 5 minutes for a line, no limit for a branch or a value, of which every
    /// question has its own
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse_some)]
    patience: Option<Duration>,
    /// The folder for new inputs
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Which evaluations of a condition are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurrence {
    Number(u32),
    All,
}

impl FromStr for Occurrence {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            _ => match text.parse() {
                Ok(0) | Err(_) => Err(format!("`{text}` is no occurrence: write a number from 1, or `all`")),
                Ok(number) => Ok(Self::Number(number)),
            },
        }
    }
}

#[derive(Serialize)]
struct Report {
    format: u32,
    file: String,
    goal: String,
    /// What was asked on the way of the input itself.
    attempts: Vec<Attempt>,
    found: Vec<Found>,
    n_runs: usize,
    n_questions: usize,
    n_disagreements: usize,
    stages: Vec<StageReport>,
    /// Why there was nothing to ask, or nothing to be found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// Why it ended before everything was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
}

/// One question on the way of the input itself.
#[derive(Clone, Serialize)]
struct Attempt {
    branch: String,
    occurrence: u32,
    answer: String,
}

/// An input that was found and run.
#[derive(Clone, Serialize)]
struct Found {
    input: Input,
    address: String,
    path: Option<String>,
    /// What the symbolic run did, where one decision was to be taken otherwise.
    run: Option<String>,
    /// Whether the plain view comes to the goal; of a value, whether the symbolic view says so.
    reaches_goal: bool,
    /// What the bare build did.
    outcome: Outcome,
    summary: String,
    reproduce: String,
}

#[derive(Serialize)]
struct StageReport {
    stage: &'static str,
    n_queries: u64,
    n_sat: u64,
    n_unsat: u64,
    n_unknown: u64,
    n_wrong_models: u64,
    evaluations: u64,
    milliseconds: u128,
}

impl Solve {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let is_value = self.site.is_some();
        let wanted = Wanted { symbolic: !is_value, detailed: is_value, ..Wanted::USUAL };
        let subject = Subject::open(&self.target, &wanted, &|text| screen.progress(text))?;
        let named = one_input(&subject)?;
        let goal = match (&self.branch, &self.line) {
            (Some(branch), _) => Some(Goal::branch(&subject.map, branch)?),
            (_, Some(line)) => Some(Goal::line(&subject.map, line)?),
            _ => None,
        };
        // On the way to a line it helps to know which conditions library functions decide.
        let trace_level = if self.line.is_some() { TraceLevel::All } else { TraceLevel::Symbolic };
        let config = SymbolicConfig { trace_level, ..SymbolicConfig::default() };
        let mut tracer = match is_value {
            true => Tracer::detailed(&subject, config)?,
            false => Tracer::new(&subject, config)?,
        };
        let value = match (&self.site, &self.value) {
            (Some(site), Some(value)) => Some(ValueGoal::new(&subject.map, tracer.sites(), site, value)?),
            _ => None,
        };
        if let Some(value) = &value {
            tracer.ask(Asked { noted: value.probes(), guidepost: None })?;
        }
        let mut work = Work {
            subject: &subject,
            tracer,
            whole_tracer: None,
            solver: standard(cairn_solver::Config::default()),
            output: self.output.as_deref(),
            until: Until::new(self.patience(), Some(Signals::catch()?)),
            found: Vec::new(),
        };
        if let Some(missing) = &work.solver.smt_unavailable {
            screen.warn(&missing.to_string());
        }
        let traced = work.tracer.trace(&named.input)?;
        traced.warn(screen);
        let mut report = match (&goal, &value) {
            (Some(goal), _) => self.towards(goal, &mut work, traced, screen)?,
            (None, Some(value)) => self.towards_value(value, &mut work, traced)?,
            (None, None) => return Err(Failure::usage("nothing was asked for")),
        };
        report.file = named.path.display().to_string();
        report.found = work.found;
        report.stages = stages(&work.solver);
        if self.json {
            screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON"));
        } else {
            screen.result(text(&report).trim_end());
        }
        Ok(match report.found.as_slice() {
            [] => Exit::NotFound,
            found if found.iter().any(|found| found.outcome.ending.is_failure()) => Exit::Findings,
            _ => Exit::Done,
        })
    }

    fn towards(
        &self,
        goal: &Goal,
        work: &mut Work<'_>,
        traced: Traced,
        screen: &Screen,
    ) -> Result<Report, Failure> {
        let map = &work.subject.map;
        let mut report = Report::new(goal.show(map), &traced);
        let mut coverage = Coverage::empty(map);
        coverage.add(&traced.run.execution.counters);
        let is_specific = matches!(goal, Goal::Line { .. } | Goal::Branch { direction: Some(_), .. });
        if is_specific && self.occurrence.is_none() && goal.is_met(map, &coverage) {
            work.keep(traced.path.regions().input().clone(), None, goal)?;
            report.note = Some(match goal {
                Goal::Branch { .. } => "the given input takes this branch already",
                Goal::Line { .. } => "the given input comes to this line already",
            });
            return Ok(report);
        }
        if let Goal::Branch { conditions, direction } = goal {
            let evaluations = self.evaluations(&traced, conditions, *direction);
            let (followed, others): (Vec<_>, Vec<_>) = evaluations
                .into_iter()
                .partition(|(step, _)| traced.path.steps()[*step].constraint.is_some());
            if followed.is_empty() && !others.is_empty() {
                report.note = Some(NOT_FOLLOWED);
            }
            for (step, occurrence) in followed {
                report.stopped = work.until.over();
                if report.stopped.is_some() {
                    return Ok(report);
                }
                screen.progress(&format!("{} asked", count(report.n_questions, "question")));
                let budget = work.until.limit(Budget::default());
                let answer = flip(&traced.path, step, &mut work.solver, budget);
                report.n_questions += 1;
                report.attempts.push(Attempt {
                    branch: branch_at(map, &traced, step),
                    occurrence,
                    answer: answer_text(&answer),
                });
                let Flip::Solved(solved) = answer else { continue };
                report.n_runs += 1;
                let new = work.tracer.trace(&solved.input)?;
                let mut verification = verify(&traced.path, step, &new.path);
                if verification != Verification::Flipped {
                    verification =
                        work.look_again(&traced.path, step, &solved.input)?.unwrap_or(verification);
                }
                report.n_disagreements += new.path.n_mistakes();
                if verification == Verification::Flipped {
                    work.keep(solved.input, Some(verification), goal)?;
                    if self.occurrence != Some(Occurrence::All) {
                        return Ok(report);
                    }
                } else if let Some(last) = report.attempts.last_mut() {
                    last.answer = format!("{}, but the run {verification}", last.answer);
                }
            }
        }
        let runs = self.runs.unwrap_or(if self.line.is_some() { DEFAULT_RUNS } else { 0 });
        if work.found.is_empty() && runs > 0 {
            let effort = Effort { runs, budget: Budget::default(), until: &work.until };
            let config =
                cairn_solver::Config { optimistic_if_refuted: true, ..cairn_solver::Config::default() };
            let mut hopeful = standard(config);
            let solvers = Solvers { strict: &mut work.solver, hopeful: &mut hopeful };
            let (start, shown) = (Instant::now(), Cell::new(Duration::ZERO));
            let progress = |explored: &Explored| {
                let now = start.elapsed();
                if now >= shown.get() {
                    shown.set(now + BETWEEN_PROGRESS);
                    let (runs, questions) =
                        (count(explored.n_runs, "input"), count(explored.n_questions, "question"));
                    screen.progress(&format!("{runs} tried, {questions} asked, {}", duration::show(now)));
                }
            };
            let Explored { found, n_runs, n_questions, n_disagreements, stopped } =
                explore(map, &mut work.tracer, solvers, traced, goal, effort, &progress)?;
            report.n_runs += n_runs;
            report.n_questions += n_questions;
            report.n_disagreements += n_disagreements;
            report.stopped = stopped;
            if let Some(input) = found {
                work.keep(input, None, goal)?;
                report.note = None;
            }
        }
        Ok(report)
    }

    fn patience(&self) -> Option<Duration> {
        self.patience.or(self.line.as_ref().map(|_| DEFAULT_PATIENCE))
    }

    /// The evaluations that are asked about, by their step and occurrence: those that depend on the input.
    fn evaluations(
        &self,
        traced: &Traced,
        conditions: &[cairn_model::ConditionId],
        wanted: Option<bool>,
    ) -> Vec<(usize, u32)> {
        let steps = traced.path.steps().iter().enumerate();
        steps
            .filter_map(|(index, step)| match step.event {
                Event::Conditional {
                    condition: Some(condition),
                    direction,
                    occurrence,
                    expression: Some(_),
                } => {
                    let is_asked = match self.occurrence {
                        Some(Occurrence::Number(number)) => number == occurrence,
                        _ => true,
                    };
                    let is_meant = conditions.contains(&condition) && wanted != Some(direction);
                    (is_asked && is_meant).then_some((index, occurrence))
                }
                _ => None,
            })
            .collect()
    }

    fn towards_value(
        &self,
        goal: &ValueGoal,
        work: &mut Work<'_>,
        mut traced: Traced,
    ) -> Result<Report, Failure> {
        let mut report = Report::new(goal.show().to_owned(), &traced);
        let evaluations = goal.evaluations(&traced.path);
        if self.occurrence.is_none() && evaluations.iter().any(|evaluation| evaluation.has_it) {
            work.keep_value(traced.path.regions().input().clone(), None)?;
            report.note = Some("the expression has this value with the given input already");
            return Ok(report);
        }
        if evaluations.is_empty() {
            report.note = Some("this input does not come to the expression; `--line` finds one that does");
        } else if evaluations.iter().all(|evaluation| evaluation.occurrence == 0) {
            report.note = Some("its value does not depend on the input on the way of this one");
        }
        for Evaluation { step, occurrence, wanted, .. } in evaluations {
            let is_meant = match self.occurrence {
                Some(Occurrence::Number(number)) => number == occurrence,
                _ => occurrence > 0,
            };
            if !is_meant {
                continue;
            }
            report.stopped = work.until.over();
            if report.stopped.is_some() {
                break;
            }
            let budget = work.until.limit(Budget::default());
            let answer = reach_value(&mut traced.path, step, wanted, &mut work.solver, budget);
            report.n_questions += 1;
            let answer_text = match &answer {
                Flip::Unsat => "no input takes the same way and has this value here".into(),
                answer => answer_text(answer),
            };
            report.attempts.push(Attempt { branch: report.goal.clone(), occurrence, answer: answer_text });
            let Flip::Solved(solved) = answer else { continue };
            report.n_runs += 1;
            let new = work.tracer.trace(&solved.input)?;
            report.n_disagreements += new.path.n_mistakes();
            let verification = verify_value(&traced.path, step, wanted, &new.path);
            // Where any evaluation will do, another way to it will do too.
            let has_it = || goal.evaluations(&new.path).iter().any(|evaluation| evaluation.has_it);
            if verification == Verification::Valued || self.occurrence.is_none() && has_it() {
                work.keep_value(solved.input, Some(verification))?;
                if self.occurrence != Some(Occurrence::All) {
                    break;
                }
            } else if let Some(last) = report.attempts.last_mut() {
                last.answer = format!("{}, but the run {verification}", last.answer);
            }
        }
        Ok(report)
    }
}

/// Why there is nothing to ask about a condition that depends on the input.
const NOT_FOLLOWED: &str =
    "no input: it depends on a value that is not followed; `--runs N` tries other inputs";

/// How many inputs are run on the way to a line.
const DEFAULT_RUNS: usize = 1000;

/// How long a line is looked for.
const DEFAULT_PATIENCE: Duration = Duration::from_secs(300);

/// The time from one line of progress to the next.
const BETWEEN_PROGRESS: Duration = Duration::from_millis(100);

/// What all questions share.
struct Work<'a> {
    subject: &'a Subject,
    tracer: Tracer<'a>,
    /// Notes all conditions; made when it is needed.
    whole_tracer: Option<Tracer<'a>>,
    solver: Standard,
    output: Option<&'a std::path::Path>,
    until: Until,
    found: Vec<Found>,
}

impl Work<'_> {
    /// Whether an input does what it was made for, when its run seems to have left the way.
    fn look_again(
        &mut self,
        path: &Path,
        step: usize,
        input: &Input,
    ) -> Result<Option<Verification>, Failure> {
        let tracer = match &mut self.whole_tracer {
            Some(tracer) => tracer,
            None => {
                let config = SymbolicConfig { trace_level: TraceLevel::All, ..SymbolicConfig::default() };
                self.whole_tracer.insert(Tracer::new(self.subject, config)?)
            }
        };
        let whole = tracer.trace(path.regions().input())?;
        let new = tracer.trace(input)?;
        Ok(verify_whole(path, step, &whole.path, &new.path))
    }

    /// Runs an input on the plain view and the bare build, and keeps it.
    fn keep(&mut self, input: Input, verification: Option<Verification>, goal: &Goal) -> Result<(), Failure> {
        let map = &self.subject.map;
        let mut coverage = Coverage::empty(map);
        coverage.add(&self.subject.plain()?.run(&input)?.counters);
        let reaches_goal = goal.is_met(map, &coverage);
        self.add(input, verification, reaches_goal)
    }

    /// Likewise for an input whose value only the symbolic view tells.
    fn keep_value(&mut self, input: Input, verification: Option<Verification>) -> Result<(), Failure> {
        self.add(input, verification, true)
    }

    fn add(
        &mut self,
        input: Input,
        verification: Option<Verification>,
        reaches_goal: bool,
    ) -> Result<(), Failure> {
        let outcome = self.subject.bare()?.run(&input)?.outcome;
        let path = match self.output {
            Some(folder) => Some(inputs::save(folder, &input, &self.subject.template)?.display().to_string()),
            None => None,
        };
        let program =
            std::fs::canonicalize(&self.subject.program).unwrap_or_else(|_| self.subject.program.clone());
        self.found.push(Found {
            address: input.address(),
            path,
            run: verification.map(|verification| verification.to_string()),
            reaches_goal,
            summary: verb(&outcome.ending),
            outcome,
            reproduce: shell::reproduce(&program.to_string_lossy(), &input),
            input,
        });
        Ok(())
    }
}

impl Report {
    fn new(goal: String, traced: &Traced) -> Self {
        Self {
            format: 1,
            file: String::new(),
            goal,
            attempts: Vec::new(),
            found: Vec::new(),
            n_runs: 1,
            n_questions: 0,
            n_disagreements: traced.path.n_mistakes(),
            stages: Vec::new(),
            note: None,
            stopped: None,
        }
    }
}

/// The one input that a command works on; without a name, an empty one.
pub fn one_input(subject: &Subject) -> Result<NamedInput, Failure> {
    let mut inputs = inputs::load(&subject.inputs, &subject.template)?;
    match inputs.len() {
        0 => Ok(NamedInput { path: "(empty)".into(), input: subject.template.fill(Vec::new()) }),
        1 => Ok(inputs.remove(0)),
        n => Err(Failure::usage(format!("{n} inputs were named, this command takes one"))
            .hint("name a file, not a folder of several")),
    }
}

/// The branch that a flipped step takes.
fn branch_at(map: &cairn_model::ProgramMap, traced: &Traced, step: usize) -> String {
    match traced.path.steps()[step].event {
        Event::Conditional { condition: Some(condition), direction, .. } => {
            describe::branch(map, condition, !direction)
        }
        _ => "?".into(),
    }
}

fn answer_text(flip: &Flip) -> String {
    match flip {
        Flip::Solved(solved) => {
            let Solved { model, stage, strength, demands, .. } = solved.as_ref();
            let how = match (demands, strength) {
                (Demands::Own, _) => " without what was fixed on the way",
                (Demands::All, Strength::Full) => "",
                (Demands::All, Strength::Optimistic { .. }) => " without the whole way",
            };
            format!("solved by {stage}{how}: {model}")
        }
        Flip::Unsat => "no input takes the same way and decides otherwise here".into(),
        Flip::Fixed(fixed) => format!("unknown: values were fixed on the way ({fixed})"),
        Flip::Unknown(reason) => format!("unknown: {reason}"),
        Flip::NoInput(error) => format!("no input: {error}"),
        Flip::NotSymbolic => "it does not depend on the input in a way that can be followed".into(),
    }
}

fn stages(solver: &Standard) -> Vec<StageReport> {
    let mut statistics = cairn_solver::Statistics::default();
    solver.collect(&mut statistics);
    let report = |(stage, record): (&cairn_solver::Stage, &cairn_solver::StageStatistics)| StageReport {
        stage: stage.name(),
        n_queries: record.n_queries,
        n_sat: record.n_sat,
        n_unsat: record.n_unsat,
        n_unknown: record.n_unknown,
        n_wrong_models: record.n_wrong_models,
        evaluations: record.work.evaluations,
        milliseconds: record.time.as_millis(),
    };
    statistics.stages.iter().map(report).collect()
}

fn text(report: &Report) -> String {
    let mut lines = vec![
        format!("  input      {}", report.file),
        format!("  goal       {}", report.goal),
        format!("  tried      {}, {}", count(report.n_questions, "question"), count(report.n_runs, "run")),
    ];
    for attempt in &report.attempts {
        lines.push(format!("  attempt    {}, occurrence {}", attempt.branch, attempt.occurrence));
        lines.push(format!("             {}", attempt.answer));
    }
    if let (Some(note), false) = (report.note, report.found.is_empty()) {
        lines.push(format!("  note       {note}"));
    }
    for found in &report.found {
        lines.push(format!("  found      {}", found.path.as_deref().unwrap_or(&found.address)));
        for line in found.input.to_string().lines() {
            lines.push(format!("             {line}"));
        }
        if !found.reaches_goal {
            lines.push("  warning    the plain view does not come to the goal with it".into());
        }
        lines.push(format!("  outcome    {}", found.summary));
    }
    if report.found.is_empty() {
        let why = match (report.note, report.n_questions) {
            (Some(note), _) => note,
            (None, 0) if report.stopped.is_none() => {
                "no input: no condition on the way of this input decides it; `--runs N` tries other inputs"
            }
            (None, _) => "no input was found",
        };
        lines.push(format!("  found      {why}"));
    }
    if let Some(why) = report.stopped {
        lines.push(format!("  ended      {why}"));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_count_from_one() {
        assert_eq!("3".parse(), Ok(Occurrence::Number(3)));
        assert_eq!("all".parse(), Ok(Occurrence::All));
        assert!("0".parse::<Occurrence>().is_err());
        assert!("first".parse::<Occurrence>().is_err());
    }
}
