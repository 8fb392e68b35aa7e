//! What `cairn score` says about real programs, and how soon.

use super::subject::recorded;
use crate::{
    measure::{Pair, REPEATS, Samples},
    results,
    table::{Goal, Row, Table},
    tools::print_rows,
};
use anyhow::{Context, Result, ensure};
use cairn_targets::{Cache, find};
use serde_json::{Value, json};
use std::{fs, path::Path, time::Instant};

/// Inputs that are scored.
const N_INPUTS: usize = 128;

/// The task: so many mutants at least, within this time.
const LEAST_MUTANTS: u64 = 10_000;
const LIMIT_SECONDS: f64 = 120.0;

/// The set that has enough mutants, and how much of it is scored against the clock: twice as many as the task asks for.
const SET: &str = "deminer";
const SAMPLE: &str = "--sample 20000";

/// Prints what became of the mutants of each program.
pub fn counts(cache: &Cache, names: &[String]) -> Result<()> {
    println!(
        "| program | generated | equivalent | duplicate | invalid | reached | infected | killed | by | layout-dependent |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    print_rows(names, |name| {
        let scored = score_once(cache, name, "")?;
        let score = &scored.report["score"];
        let killed_by = score["killed_by"].as_object().cloned().unwrap_or_default();
        let killed_by: Vec<String> = killed_by.iter().map(|(reason, n)| format!("{reason} {n}")).collect();
        results::merge(cache, "mutants-counts", vec![json!({ "name": name, "set": SET, "score": score })])?;
        Ok(format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            score["generated"],
            score["dropped"]["equivalent"],
            score["dropped"]["duplicate"],
            score["dropped"]["invalid"],
            score["reached"],
            score["infected"],
            score["killed"],
            killed_by.join(", "),
            score["layout_dependent"],
        ))
    })
}

/// Scores a program against the clock.
pub fn score(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let mut samples = Vec::new();
    let mut last = None;
    for _ in 0..REPEATS {
        let scored = score_once(cache, name, SAMPLE)?;
        samples.push(scored.seconds);
        last = Some(scored);
    }
    let scored = last.context("it was scored")?;
    let score = &scored.report["score"];
    let n_selected = score["selected"].as_u64().unwrap_or_default();
    ensure!(n_selected >= LEAST_MUTANTS, "{name} has only {n_selected} mutants of the set {SET}");
    let peer = Samples(vec![LIMIT_SECONDS; samples.len()]);
    let row = Row {
        what: format!("score of {name}: {n_selected} mutants, {N_INPUTS} recorded inputs"),
        our_command: scored.command,
        peer_command: "the limit: 2 minutes on 2 cores".into(),
        unit: "s",
        pair: Pair { ours: Samples(samples), peer },
        goal: Goal::AtMost(1.0),
        notes: vec![
            format!(
                "{} reached, {} infected, {} killed",
                score["reached"], score["infected"], score["killed"]
            ),
            "the mutant view was built before; nothing is remembered from earlier scores".into(),
        ],
    };
    table.add(cache, row)
}

struct Scored {
    command: String,
    seconds: f64,
    report: Value,
}

fn score_once(cache: &Cache, name: &str, more: &str) -> Result<Scored> {
    let target = find(name)?;
    let built = target.build(cache)?;
    let inputs = built.folder.join("scored-inputs");
    let _ = fs::remove_dir_all(&inputs);
    fs::create_dir_all(&inputs)?;
    for (path, _) in recorded(cache, target, N_INPUTS)? {
        let name = path.file_name().context("a file has a name")?;
        fs::copy(&path, inputs.join(name))?;
    }
    let program = Path::new(target.program_name);
    // Builds the view, which is not measured.
    let build = format!("cairn mutants ./{} --set {SET} > mutants.txt", program.display());
    cache.shell(&built.folder, &build, &[])?;
    let command = format!(
        "cairn score ./{} scored-inputs --set {SET} {more} --fresh-results --format json -o score.json",
        program.display()
    );
    let start = Instant::now();
    // Survivors are no failure here.
    cache.shell(&built.folder, &format!("{command} || [ -s score.json ]"), &[])?;
    let seconds = start.elapsed().as_secs_f64();
    let report = serde_json::from_slice(&fs::read(built.folder.join("score.json"))?)?;
    Ok(Scored { command, seconds, report })
}
