//! A session's run is the run of a fresh process: the same outcome and the same counters, in any order.
//!
//! Every recorded input and many generated ones run in a fresh process, and in sessions in two orders. Where a session
//! differs, the input runs in two more fresh processes: one that differs from itself proves nothing and is counted
//! apart.

use crate::{generate::generate, measure::Pinned, random::Random, speed::session};
use anyhow::{Context, Result, ensure};
use cairn_executor::{Execution, Executor, Ran, RunConfig, Session, SessionConfig, Target, Wants};
use cairn_model::{Input, outcome::Comparison};
use cairn_targets::{Built, Cache, Kind, find};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

/// Whose runs are compared.
pub const ALL: &[&str] = &["sort", "grep", "sed", "find", "busybox-ls", "busybox-printf"];

/// Generated inputs for each program, unless `CAIRN_BENCH_GENERATED` says otherwise.
const N_GENERATED: usize = 10_000;

/// Inputs handed to a session at once.
const BATCH: usize = 64;

/// What came of one program.
#[derive(Default)]
struct Tally {
    n_inputs: usize,
    n_runs: usize,
    /// Differences, each with the input that shows it.
    differences: Vec<String>,
    n_unstable: usize,
    n_live: usize,
    /// Runs that needed a process of their own, by reason.
    needs_fork: BTreeMap<String, usize>,
}

/// Compares each program; fails if any run in a session differs from a fresh one.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    println!(
        "| program | inputs | runs in sessions | differ | differ from themselves | need a fork | most often because |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut results = Vec::new();
    let mut n_different = 0;
    for name in names {
        let tally = compare_program(cache, name).with_context(|| format!("`{name}`"))?;
        println!("{}", tally.line(name));
        for difference in tally.differences.iter().take(3) {
            eprintln!("{name}: {difference}");
        }
        n_different += tally.differences.len();
        results.push(tally.to_json(name));
    }
    let folder = cache.folder.join("results");
    fs::create_dir_all(&folder)?;
    let path = folder.join("equality.json");
    fs::write(&path, serde_json::to_string_pretty(&json!({ "version": 1, "programs": results }))?)?;
    println!("\nwritten to {}\n", path.display());
    ensure!(n_different == 0, "{n_different} runs in sessions differ from fresh ones");
    Ok(())
}

fn compare_program(cache: &Cache, name: &str) -> Result<Tally> {
    let target = find(name)?;
    ensure!(target.kind == Kind::Program, "`{name}` is not a whole program");
    let built = target.build(cache)?;
    let mut inputs = load(&target.record(cache)?.folder)?;
    let n_generated = std::env::var("CAIRN_BENCH_GENERATED").ok().and_then(|n| n.parse().ok());
    inputs.extend(generate(&inputs, n_generated.unwrap_or(N_GENERATED), 11));
    // Passing the turn between cores would take longer than most runs.
    let _pinned = Pinned::to_one_core()?;
    let mut fresh = executor(&built, target.program_name)?;
    let expected: Vec<Execution> = inputs.iter().map(|input| fresh.run(input)).collect::<Result<_, _>>()?;
    let mut tally = Tally { n_inputs: inputs.len(), ..Tally::default() };
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    for seed in [None, Some(5)] {
        if let Some(seed) = seed {
            Random(seed).shuffle(&mut order);
        }
        let mut session = session(&built, target.program_name, SessionConfig::default())?;
        in_order(&mut session, &mut fresh, &inputs, &expected, &order, &mut tally)?;
    }
    Ok(tally)
}

fn in_order(
    session: &mut Session,
    fresh: &mut Executor,
    inputs: &[Input],
    expected: &[Execution],
    order: &[usize],
    tally: &mut Tally,
) -> Result<()> {
    for chunk in order.chunks(BATCH) {
        let batch: Vec<Input> = chunk.iter().map(|index| inputs[*index].clone()).collect();
        let runs = session.run_batch(&batch, Wants::EVERYTHING)?;
        ensure!(runs.len() == batch.len(), "{} inputs gave {} runs", batch.len(), runs.len());
        for ((index, input), run) in chunk.iter().zip(&batch).zip(runs) {
            tally.n_runs += 1;
            match run.ran {
                Ran::Live => tally.n_live += 1,
                // It ran as the one it would be compared with did.
                Ran::Fresh { why } => {
                    *tally.needs_fork.entry(why.to_string()).or_default() += 1;
                    continue;
                }
            }
            let Some(how) = difference(&run.execution, &expected[*index]) else { continue };
            let (first, second) = (fresh.run(input)?, fresh.run(input)?);
            let differs_itself =
                difference(&first, &second).is_some() || difference(&first, &expected[*index]).is_some();
            if differs_itself {
                tally.n_unstable += 1;
            } else {
                tally.differences.push(format!("{how}\n{input}"));
            }
        }
    }
    Ok(())
}

/// How two runs differ in what counts, if they do.
fn difference(one: &Execution, other: &Execution) -> Option<String> {
    if let Comparison::Different(parts) = one.outcome.compare(&other.outcome) {
        return Some(format!(
            "{} differ: {:?} and {:?}",
            parts.join(", "),
            one.outcome.ending,
            other.outcome.ending
        ));
    }
    let n_counters = one.counters.iter().zip(&other.counters).filter(|(a, b)| a != b).count();
    (one.counters != other.counters).then(|| format!("{n_counters} counters differ"))
}

fn executor(built: &Built, name: &str) -> Result<Executor> {
    let target = Target { program: built.plain.clone(), n_counters: built.n_counters };
    Ok(Executor::new(target, RunConfig { program_name: Some(name.into()), ..RunConfig::default() })?)
}

/// Recorded inputs, in the order of their names.
fn load(folder: &Path) -> Result<Vec<Input>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let inputs = paths.iter().map(|path| {
        serde_json::from_slice(&fs::read(path)?).with_context(|| format!("`{}` is no input", path.display()))
    });
    let inputs = inputs.collect::<Result<Vec<Input>>>()?;
    ensure!(!inputs.is_empty(), "there are no inputs in `{}`", folder.display());
    Ok(inputs)
}

impl Tally {
    fn line(&self, name: &str) -> String {
        let n_forks: usize = self.needs_fork.values().sum();
        let most = self.needs_fork.iter().max_by_key(|(_, n)| **n);
        format!(
            "| {name} | {} | {} | {} | {} | {n_forks} ({:.1} %) | {} |",
            self.n_inputs,
            self.n_live,
            self.differences.len(),
            self.n_unstable,
            n_forks as f64 * 100.0 / self.n_runs.max(1) as f64,
            most.map(|(why, n)| format!("{why} ({n})")).unwrap_or_default(),
        )
    }

    fn to_json(&self, name: &str) -> Value {
        json!({
            "program": name,
            "inputs": self.n_inputs,
            "runs": self.n_runs,
            "live": self.n_live,
            "differences": self.differences,
            "unstable": self.n_unstable,
            "needs_fork": self.needs_fork,
        })
    }
}
