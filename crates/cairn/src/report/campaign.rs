//! A campaign for programs: everything that the page shows. The layout is versioned by `format`.
//!
//! Files are named from the folder of the campaign, times are milliseconds since it began. Long inputs are cut as on the page; the
//! files have all of them.

use super::{Share, functions::by_function};
use crate::{
    campaign::history::{FailingInput, History, KeptInput},
    commands::cover::verb,
    printable::Beginning,
};
use cairn_campaign::Why;
use cairn_model::{ProgramMap, Provenance, Spent, map::Place};
use serde::Serialize;
use std::{collections::BTreeMap, path::Path};

/// The layout that is written.
const FORMAT: u32 = 2;

/// Characters that are shown of an input and of a report.
const SHOWN: usize = 2000;

#[derive(Serialize)]
struct Campaign<'a> {
    format: u32,
    report: &'a Path,
    command: &'a str,
    directory: &'a Path,
    seed: u64,
    workers: usize,
    strategies: &'a [String],
    /// `null` for one that is at work, or was killed.
    ended: Option<Why>,
    worked_ms: u64,
    n_branches_reached: usize,
    n_branches: usize,
    n_entries: usize,
    n_inputs: u64,
    n_target_runs: u64,
    warnings: &'a [String],
    coverage_over_time: Vec<Reached>,
    moments: Vec<Moment>,
    failures: Vec<Failing<'a>>,
    functions: Vec<Function<'a>>,
    work: BTreeMap<&'a str, Work>,
    corpus: Vec<Kept<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mutants: Option<Mutants<'a>>,
}

#[derive(Serialize)]
struct Reached {
    after_ms: u64,
    n_branches: usize,
}

#[derive(Serialize)]
struct Moment {
    after_ms: u64,
    n_branches: u32,
    n_entries: u32,
    n_failures: u32,
    n_inputs: u64,
    n_killed: u32,
}

#[derive(Serialize)]
struct Found<'a> {
    after_ms: u64,
    strategy: &'a str,
    parent: Option<u32>,
    made_by: &'a str,
}

#[derive(Serialize)]
struct Text {
    text: String,
    is_cut: bool,
}

#[derive(Serialize)]
struct Failing<'a> {
    signature: &'a str,
    kind: &'a str,
    ending: String,
    stack: Vec<String>,
    said: Text,
    found: Found<'a>,
    file: Option<&'a Path>,
    input: Option<Text>,
    replay: Option<&'a str>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(flatten)]
    place: Located<'a>,
    is_entered: bool,
    branches: Share,
    /// Conditions with the directions nobody took.
    missing: Vec<Missing<'a>>,
}

#[derive(Serialize)]
struct Located<'a> {
    path: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Missing<'a> {
    #[serde(flatten)]
    place: Located<'a>,
    text: &'a str,
    never: Vec<bool>,
}

#[derive(Default, Serialize)]
struct Work {
    n_entries: usize,
    n_failures: usize,
    n_inputs: u64,
    n_target_runs: u64,
    n_mutant_runs: u64,
    n_new_paths: u64,
    wall_ms: u64,
    on_mutants_ms: u64,
    cpu_ms: u64,
}

#[derive(Serialize)]
struct Kept<'a> {
    entry: u32,
    address: &'a str,
    found: Found<'a>,
    kept_for: &'a str,
    file: Option<&'a Path>,
    input: Option<Text>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    kills: &'a [String],
}

#[derive(Serialize)]
struct Mutants<'a> {
    n_mutants: usize,
    n_killed: usize,
    killed_by: &'a BTreeMap<&'static str, usize>,
    n_survivors: usize,
    /// The first of them, as changes of the source.
    survivors: &'a [String],
}

/// The campaign, whose page is at `report`.
pub fn render(history: &History<'_>, report: &Path) -> String {
    let spent = history.spent();
    let config = &history.plan.config;
    let reached = |(after, n_branches): &(std::time::Duration, usize)| Reached {
        after_ms: after.as_millis() as u64,
        n_branches: *n_branches,
    };
    let campaign = Campaign {
        format: FORMAT,
        report,
        command: &history.command,
        directory: &history.directory,
        seed: config.seed,
        workers: config.workers,
        strategies: &history.plan.strategies,
        ended: history.ended,
        worked_ms: spent.wall.as_millis() as u64,
        n_branches_reached: history.n_reached(),
        n_branches: 2 * history.map.conditions.len(),
        n_entries: history.entries.len(),
        n_inputs: spent.inputs,
        n_target_runs: spent.target_runs,
        warnings: &history.warnings,
        coverage_over_time: history.curve.iter().map(reached).collect(),
        moments: history.moments.iter().map(moment).collect(),
        failures: history.failures.iter().map(failing).collect(),
        functions: functions(history),
        work: work(history),
        corpus: history.entries.iter().map(|entry| kept(history, entry)).collect(),
        mutants: history.mutants.as_ref().map(|mutants| Mutants {
            n_mutants: mutants.n_mutants,
            n_killed: mutants.n_killed(),
            killed_by: &mutants.by_reason,
            n_survivors: mutants.n_survivors,
            survivors: &mutants.survivors,
        }),
    };
    serde_json::to_string_pretty(&campaign).expect("a campaign is always JSON")
}

fn moment(moment: &cairn_store::Moment) -> Moment {
    let cairn_store::Moment { after, n_branches, n_entries, n_failures, n_inputs, n_killed } = *moment;
    Moment { after_ms: after.as_millis() as u64, n_branches, n_entries, n_failures, n_inputs, n_killed }
}

fn found(provenance: &Provenance) -> Found<'_> {
    Found {
        after_ms: provenance.found_after.as_millis() as u64,
        strategy: &provenance.strategy,
        parent: provenance.parent.map(|parent| parent.0),
        made_by: &provenance.made_by,
    }
}

fn text(beginning: &Beginning) -> Text {
    Text { text: beginning.text.clone(), is_cut: beginning.is_cut }
}

fn failing(failing: &FailingInput) -> Failing<'_> {
    let failure = &failing.failure;
    let is_there = failing.file.is_some();
    Failing {
        signature: &failure.signature,
        kind: &failure.kind,
        ending: verb(&failure.ending),
        stack: failure.stack.iter().map(ToString::to_string).collect(),
        said: text(&Beginning::of(&failure.report, SHOWN)),
        found: found(&failure.provenance),
        file: failing.file.as_deref(),
        input: is_there.then(|| text(&Beginning::of(&failure.input, SHOWN))),
        replay: failing.replay.as_deref(),
    }
}

fn located(map: &ProgramMap, place: Place) -> Located<'_> {
    Located { path: &map.files[place.file as usize].path, line: place.line, column: place.column }
}

fn functions<'a>(history: &History<'a>) -> Vec<Function<'a>> {
    let of = |of_function: super::functions::FunctionShare<'a>| Function {
        name: &of_function.function.name,
        place: located(history.map, of_function.function.place),
        is_entered: of_function.is_entered,
        branches: of_function.share,
        missing: of_function
            .missing
            .into_iter()
            .map(|(condition, never)| Missing {
                place: located(history.map, condition.extent.start),
                text: &condition.text,
                never,
            })
            .collect(),
    };
    by_function(history.map, &history.coverage).into_iter().map(of).collect()
}

fn work<'a>(history: &'a History<'_>) -> BTreeMap<&'a str, Work> {
    let mut work: BTreeMap<&'a str, Work> = BTreeMap::new();
    for (strategy, spent) in &history.work {
        let Spent { wall, cpu, on_mutants, inputs, target_runs, mutant_runs, new_paths } = *spent;
        let of_strategy = work.entry(strategy).or_default();
        of_strategy.n_inputs = inputs;
        of_strategy.n_target_runs = target_runs;
        of_strategy.n_mutant_runs = mutant_runs;
        of_strategy.n_new_paths = new_paths;
        of_strategy.wall_ms = wall.as_millis() as u64;
        of_strategy.on_mutants_ms = on_mutants.as_millis() as u64;
        of_strategy.cpu_ms = cpu.as_millis() as u64;
    }
    for kept in &history.entries {
        work.entry(&kept.entry.provenance.strategy).or_default().n_entries += 1;
    }
    for failing in &history.failures {
        work.entry(&failing.failure.provenance.strategy).or_default().n_failures += 1;
    }
    work
}

fn kept<'a>(history: &'a History<'_>, kept: &'a KeptInput) -> Kept<'a> {
    let id = kept.entry.id.0;
    let kills = history.mutants.as_ref().and_then(|mutants| mutants.by_entry.get(&id));
    Kept {
        entry: id,
        address: &kept.address,
        found: found(&kept.entry.provenance),
        kept_for: &kept.entry.provenance.kept_for,
        file: kept.file.as_deref(),
        input: kept.shown.as_ref().map(text),
        kills: kills.map_or(&[], Vec::as_slice),
    }
}
