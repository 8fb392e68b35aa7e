//! `cairn build`: makes the views of a program and says what they hold.

use crate::{
    exit_code::Exit,
    failure::Failure,
    screen::{Screen, count},
    target::{Subject, TargetArgs, Wanted},
};
use cairn_model::map::{LeftOut, LeftOutReason, ProgramMap};
use serde::Serialize;
use std::collections::BTreeMap;

/// Build the views of a program that was compiled with cairn-cc
#[derive(Debug, clap::Args)]
pub struct Build {
    #[command(flatten)]
    target: TargetArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    program: String,
    was_cached: bool,
    folder: String,
    functions: usize,
    conditions: usize,
    branches: usize,
    decisions: usize,
    sites: usize,
    counters: u32,
    units: usize,
    native_share: f64,
    warnings: Vec<String>,
    left_out: BTreeMap<String, usize>,
}

impl Build {
    pub fn run(&self, screen: &Screen) -> Result<Exit, Failure> {
        let subject = Subject::open(&self.target, &Wanted::USUAL, &|text| screen.progress(text))?;
        let map = &subject.map;
        let report = Report {
            program: subject.program.display().to_string(),
            was_cached: subject.views.was_cached,
            folder: subject.views.folder.display().to_string(),
            functions: map.functions.iter().filter(|function| function.in_scope).count(),
            conditions: map.conditions.len(),
            branches: 2 * map.conditions.len(),
            decisions: map.decisions.len(),
            sites: map.sites.len(),
            counters: map.n_counters,
            units: subject.record.units.len(),
            native_share: subject.record.native_share(),
            warnings: [subject.views.warnings.clone(), comments_not_understood(map)].concat(),
            left_out: left_out(&subject),
        };
        for warning in &report.warnings {
            screen.warn(warning);
        }
        if self.json {
            screen.result(&serde_json::to_string_pretty(&report).expect("a report is always JSON"));
        } else {
            screen.result(&text(&report));
        }
        Ok(Exit::Done)
    }
}

/// Comments that were meant for us and ask for nothing.
pub fn comments_not_understood(map: &ProgramMap) -> Vec<String> {
    let comments = map.left_out.iter().filter(|left| left.reason == LeftOutReason::CommentNotUnderstood);
    comments
        .map(|comment| {
            let LeftOut { what, place, .. } = comment;
            format!("{place}: the comment `{what}` asks for nothing; what skips a line is `cairn: skip`")
        })
        .collect()
}

/// What the map lacks, by reason.
pub fn left_out(subject: &Subject) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<LeftOutReason, usize> = BTreeMap::new();
    let is_comment = |left: &&LeftOut| left.reason == LeftOutReason::CommentNotUnderstood;
    for left_out in subject.map.left_out.iter().filter(|left| !is_comment(left)) {
        *counts.entry(left_out.reason).or_default() += 1;
    }
    counts.into_iter().map(|(reason, n)| (reason.to_string(), n)).collect()
}

fn text(report: &Report) -> String {
    let mut lines = vec![
        format!(
            "  target     {} ({}, {})",
            report.program,
            count(report.functions, "function"),
            count(report.units, "unit")
        ),
        format!(
            "  map        {} branches of {} conditions in {} decisions, {} sites",
            report.branches, report.conditions, report.decisions, report.sites
        ),
        format!("  views      {}{}", report.folder, if report.was_cached { " (unchanged)" } else { "" }),
    ];
    for (reason, n) in &report.left_out {
        lines.push(format!("  left out   {n}: {reason}"));
    }
    lines.join("\n")
}
