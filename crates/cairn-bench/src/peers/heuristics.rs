//! Search heuristics side by side: what concolic testing reaches by each of them, in as many runs and in equal processor time, and what the
//! hybrid with the fuzzer reaches beside both alone.
//!
//! Branches and lines are counted by clang's build, as for peers; those that the seeds reach are an arm of their own.

use super::{arms, as_recorded, carry_out, harness, keep_wanted, variable, version};
use anyhow::Result;
use cairn_experiment::{Arm, CellResult, Experiment, Limit, Target, statistics::median};
use cairn_search::Heuristic;
use cairn_targets::{Cache, Kind, find};
use std::{fs, path::Path};

/// What is compared on.
pub const ALL: &[&str] =
    &["sort", "grep", "sed", "find", "busybox-ls", "busybox-printf", "cjson", "libyaml", "lodepng"];

/// No run takes longer, however few inputs it has tried.
const LONGEST: &str = "--for 30m";

/// New branches that the best conventional search reached in DEMINER's Table X, on older versions.
const DEMINER: [(&str, u32); 6] =
    [("busybox-ls", 84), ("busybox-printf", 15), ("sort", 132), ("find", 85), ("grep", 174), ("sed", 128)];

/// Carries the comparison out on the named targets and prints its tables.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    let seconds: f64 = variable("CAIRN_BENCH_SECONDS", 60.0)?;
    let n_inputs: u64 = variable("CAIRN_BENCH_INPUTS", 1000)?;
    let repetitions: u32 = variable("CAIRN_BENCH_REPETITIONS", 3)?;
    let folder = cache.folder.join("experiments").join(format!("heuristics-{}", version(cache)?));
    fs::create_dir_all(&folder)?;
    let mut targets = Vec::new();
    for name in names {
        targets.push(match find(name)?.kind {
            Kind::Harness(_) => harness(cache, &folder, name)?,
            Kind::Program => as_recorded(cache, &folder, name)?,
        });
    }
    let by_heuristic = |limit: &str| -> Vec<Arm> {
        let arm = |heuristic: Heuristic| {
            let options = format!("--strategy concolic --heuristic {heuristic}");
            arms::limited(heuristic.name(), &options, limit)
        };
        [arms::seeds()].into_iter().chain(Heuristic::ALL.map(arm)).collect()
    };
    let compare = |name: String, limit: Limit, mut arms: Vec<Arm>| -> Result<()> {
        keep_wanted(&mut arms);
        let experiment = Experiment { name, repetitions, limit, arms, targets: targets.clone() };
        let folder = folder.join(&experiment.name);
        fs::create_dir_all(&folder)?;
        let results = carry_out(cache, &experiment, &folder)?;
        print(&experiment, &results)
    };
    if n_inputs > 0 {
        let limit = Limit { inputs: Some(n_inputs), ..Limit::default() };
        println!("In {n_inputs} inputs each:\n");
        let arms = by_heuristic(&format!("--inputs {{inputs}} {LONGEST}"));
        compare(format!("inputs-{n_inputs}"), limit, arms)?;
    }

    let limit = Limit { cpu_seconds: Some(seconds), ..Limit::default() };
    println!("\nIn {seconds} seconds of processor time each:\n");
    let mut arms = by_heuristic(arms::BY_TIME);
    arms.extend(["fuzz", "hybrid-simple"].map(|name| arms::strategy(name, &format!("--strategy {name}"))));
    compare(format!("seconds-{seconds}"), limit, arms)
}

/// One row for each target: what the seeds reach, and the median of what each arm reaches beyond, branches before lines.
fn print(experiment: &Experiment, results: &Path) -> Result<()> {
    let [_, searching @ ..] = experiment.arms.as_slice() else { return Ok(()) };
    let names: Vec<&str> = searching.iter().map(|arm| arm.name.as_str()).collect();
    println!("| target | seeds | {} | DEMINER's yardstick |", names.join(" | "));
    println!("|---{}", "|---".repeat(names.len() + 2) + "|");
    for Target { name, .. } in &experiment.targets {
        let reached = |arm: &Arm| -> Result<[f64; 2]> {
            let cells: Result<Vec<[f64; 2]>> = (1..=experiment.repetitions)
                .map(|repetition| {
                    let place = results.join(name).join(&arm.name).join(repetition.to_string());
                    let result: CellResult = serde_json::from_slice(&fs::read(place.join("result.json"))?)?;
                    Ok([result.reached() as f64, result.lines_reached as f64])
                })
                .collect();
            let cells = cells?;
            Ok([0, 1].map(|of| median(&cells.iter().map(|cell| cell[of]).collect::<Vec<f64>>())))
        };
        let [branches, lines] = reached(&experiment.arms[0])?;
        let new: Result<Vec<String>> = searching
            .iter()
            .map(|arm| {
                let [more_branches, more_lines] = reached(arm)?;
                Ok(format!("+{} / +{}", more_branches - branches, more_lines - lines))
            })
            .collect();
        let yardstick = DEMINER.iter().find(|(target, _)| target == name);
        let yardstick = yardstick.map_or("–".into(), |(_, n)| format!("+{n}"));
        println!("| {name} | {branches} / {lines} | {} | {yardstick} |", new?.join(" | "));
    }
    Ok(())
}
