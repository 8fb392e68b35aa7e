//! `cairn trace`: what a run demands of its input, in source terms.

use crate::{
    commands::{cover::verb, solve::one_input},
    concolic::{
        Traced, Tracer, cut_text,
        describe::{Described, describe, taint},
    },
    exit_code::Exit,
    failure::Failure,
    inputs::NamedInput,
    screen::{Screen, count},
    target::{Subject, TargetArgs, Wanted},
};
use cairn_abi::channel::TraceLevel;
use cairn_concolic::{Event, Step};
use cairn_executor::{Asked, SymbolicConfig};
use cairn_model::{Outcome, sites::ProbeRole};
use serde::Serialize;

/// Show how the way of a run through the program depends on its input
#[derive(Debug, clap::Args)]
pub struct Trace {
    #[command(flatten)]
    target: TargetArgs,
    /// Also functions that are entered and left, conditions that do not depend on the input, branches of library functions,
    /// and everything else recorded
    #[arg(long)]
    all: bool,
    /// Also the values of expressions that depend on the input; with `--all` those of all expressions
    #[arg(long)]
    sites: bool,
    /// Also the bytes of the input that each condition depends on
    #[arg(long)]
    taint: bool,
    /// How many events are shown at most, from the start; 0: all
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    limit: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    format: u32,
    file: String,
    address: String,
    outcome: &'a Outcome,
    summary: String,
    whole: bool,
    cut: Option<&'static str>,
    warnings: Vec<String>,
    n_disagreements: usize,
    n_stale: u64,
    n_concrete_addresses: u64,
    unmodelled: &'a [(String, u64)],
    n_expressions: usize,
    /// How many events there are beyond those shown.
    n_left_out: usize,
    events: Vec<Described>,
}

impl Trace {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let is_detailed = self.all || self.sites;
        let wanted = Wanted { symbolic: !is_detailed, detailed: is_detailed, ..Wanted::USUAL };
        let subject = Subject::open(&self.target, &wanted, &|text| screen.progress(text))?;
        let named = one_input(&subject)?;
        let trace_level = if self.all { TraceLevel::All } else { TraceLevel::Symbolic };
        let config = SymbolicConfig { trace_level, ..SymbolicConfig::default() };
        let mut tracer = match is_detailed {
            true => Tracer::detailed(&subject, config)?,
            false => Tracer::new(&subject, config)?,
        };
        if self.sites {
            // What a constant is stands in the source.
            let sites = tracer.sites().first_of_each();
            let noted = sites.filter(|(_, probe)| probe.role != ProbeRole::Constant).map(|(id, _)| id);
            let noted = noted.collect();
            tracer.ask(Asked { noted, guidepost: None })?;
        }
        // Seconds, if it evaluates millions of conditions.
        screen.progress("running it, and reading what it did with its input");
        let traced = tracer.trace(&named.input)?;
        traced.warn(screen);
        let shown = |step: &&Step| self.all || is_essential(step);
        // Loops that never end leave millions of events, which nobody reads.
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let steps = || traced.path.steps().iter().filter(shown);
        let n_left_out = steps().count().saturating_sub(limit);
        let events: Vec<Described> = steps()
            .take(limit)
            .map(|step| {
                let mut described = describe(&subject.map, tracer.sites(), &traced.path, step);
                if self.taint {
                    described.taint = taint(&traced.path, step);
                }
                described
            })
            .collect();
        if self.json {
            let report = self.report(&named, &traced, events, n_left_out);
            screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON"));
        } else {
            screen.result(self.text(&named, &traced, &events, n_left_out).trim_end());
        }
        let is_failure = traced.run.execution.outcome.ending.is_failure();
        Ok(if is_failure { Exit::Findings } else { Exit::Done })
    }

    fn report<'a>(
        &self,
        named: &NamedInput,
        traced: &'a Traced,
        events: Vec<Described>,
        n_left_out: usize,
    ) -> Report<'a> {
        let run = &traced.run;
        Report {
            format: 1,
            file: named.path.display().to_string(),
            address: named.input.address(),
            outcome: &run.execution.outcome,
            summary: verb(&run.execution.outcome.ending),
            whole: run.is_whole() && traced.path.damage().is_none(),
            cut: cut_text(run.cut),
            warnings: traced.warnings(),
            n_disagreements: traced.path.n_mistakes(),
            n_stale: run.n_stale,
            n_concrete_addresses: run.n_concrete_addresses,
            unmodelled: &run.unmodelled,
            n_expressions: traced.path.dag().len(),
            n_left_out,
            events,
        }
    }

    fn text(&self, named: &NamedInput, traced: &Traced, events: &[Described], n_left_out: usize) -> String {
        let mut lines = vec![
            format!("  input      {} ({})", named.path.display(), named.input.address()),
            format!("  outcome    {}", verb(&traced.run.execution.outcome.ending)),
        ];
        let steps = traced.path.steps();
        let n_conditions = traced.path.decisions().count();
        let n_others = steps.iter().filter(|step| step.constraint.is_some()).count() - n_conditions;
        let others = match n_others {
            0 => String::new(),
            n => format!(", and {} of library functions and addresses", count(n, "demand")),
        };
        let conditions = count(n_conditions, "condition");
        lines.push(format!("  path       {conditions} on the input{others}"));
        let mut depth = 0usize;
        for event in events {
            depth = depth.saturating_sub(usize::from(event.kind == "leave"));
            lines.push(format!("    {}{}", "  ".repeat(depth), event.line(self.taint)));
            depth += usize::from(event.kind == "enter");
        }
        if n_left_out > 0 {
            let more = count(n_left_out, "more event");
            lines.push(format!("    … and {more}; `--limit {}` shows them", events.len() + n_left_out));
        }
        lines.join("\n") + "\n"
    }
}

/// Conditions of the map and values of expressions that depend on the input, and guideposts.
fn is_essential(step: &Step) -> bool {
    match step.event {
        Event::Conditional { condition, expression, .. } => condition.is_some() && expression.is_some(),
        Event::SiteValue { expression, .. } => expression.is_some(),
        Event::Guidepost { .. } => true,
        _ => false,
    }
}
