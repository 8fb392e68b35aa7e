//! How many runs a second a search makes, with everything to find out and with everything known.

use super::subject::open;
use crate::results;
use anyhow::{Result, ensure};
use cairn_concolic::search::{Memory, SearchConfig, Searched, search};
use cairn_executor::{RunConfig, SymbolicExecutor};
use cairn_hybrid::SymbolicTracer;
use cairn_search::Heuristic;
use cairn_targets::Cache;
use serde_json::json;
use std::time::{Duration, Instant};

/// Runs of each search.
const N_EXECUTIONS: u32 = 300;

/// Inputs that searches start from.
const N_STARTS: usize = 3;

/// Searches each program twice from a few of its inputs, the second time with what was found out the first time.
pub fn searches(cache: &Cache, names: &[String]) -> Result<()> {
    println!(
        "| program | runs | branches beyond the start | flipped | diverged | impossible | unknown | mistakes | runs/s cold | runs/s warm | \
         warm : cold |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut failed = Vec::new();
    for name in names {
        if let Err(error) = one(cache, name) {
            failed.push(format!("{name}: {error:#}"));
        }
    }
    println!("\nwritten to {}\n", results::path(cache, "searches").display());
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

fn one(cache: &Cache, name: &str) -> Result<()> {
    let subject = open(cache, name)?;
    let map = &subject.build.map;
    let inputs = subject.inputs(cache)?;
    let starts = inputs.iter().step_by(inputs.len().div_ceil(N_STARTS));
    let heuristic = Heuristic::Generational;
    let limits = RunConfig { program_name: Some(subject.target.program_name.into()), ..RunConfig::default() };
    let executor = SymbolicExecutor::new(
        subject.build.symbolic_view(),
        limits,
        SymbolicTracer::config(heuristic, false),
    )?;
    let mut tracer = SymbolicTracer::new(executor, 1 << 20);
    let config = SearchConfig { n_executions: N_EXECUTIONS, ..SearchConfig::default() };
    let mut cold: Vec<(Searched, Duration)> = Vec::new();
    let mut warm: Vec<(Searched, Duration)> = Vec::new();
    for input in starts {
        let memory = Memory::default();
        for times in [&mut cold, &mut warm] {
            let start = Instant::now();
            let searched = search(map, &mut tracer, input, heuristic.selector(), &config, &memory)?;
            times.push((searched, start.elapsed()));
        }
    }
    let sum = |of: fn(&Searched) -> u64| cold.iter().map(|(searched, _)| of(searched)).sum::<u64>();
    let n_runs = sum(|searched| searched.n_executions.into());
    let rate = |times: &[(Searched, Duration)]| {
        let n_runs: u32 = times.iter().map(|(searched, _)| searched.n_executions).sum();
        f64::from(n_runs) / times.iter().map(|(_, took)| took.as_secs_f64()).sum::<f64>()
    };
    let n_new = sum(|searched| {
        let first = searched.growth.first().map_or(0, |growth| growth.n_branches);
        searched.growth.last().map_or(0, |growth| growth.n_branches - first) as u64
    });
    let (flipped, diverged) = (sum(|s| s.counts.n_flipped), sum(|s| s.counts.n_diverged));
    let (unsat, unknown) = (sum(|s| s.counts.n_unsat), sum(|s| s.counts.n_unknown));
    let mistakes = sum(|searched| searched.counts.n_mistakes);
    let (cold, warm) = (rate(&cold), rate(&warm));
    println!(
        "| {name} | {n_runs} | {n_new} | {flipped} | {diverged} | {unsat} | {unknown} | {mistakes} | {cold:.0} | {warm:.0} | {:.1} |",
        warm / cold
    );
    let result = json!({
        "name": name, "runs": n_runs, "new_branches": n_new, "flipped": flipped, "diverged": diverged, "unsat": unsat,
        "unknown": unknown, "mistakes": mistakes, "runs_per_second_cold": cold, "runs_per_second_warm": warm,
    });
    results::merge(cache, "searches", vec![result])
}
