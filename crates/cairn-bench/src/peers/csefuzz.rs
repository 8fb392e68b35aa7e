//! Symbolic seeds, after the tables of the CSEFuzz paper: how quickly they are chosen from the same candidates, and what fuzzing reaches
//! from them.

use super::{arms, carry_out, keep_wanted, library, variable, version};
use crate::{
    many_seeds::{candidates, results},
    measure::REPEATS,
    tools::print_rows,
};
use anyhow::{Context, Result, ensure};
use cairn_experiment::{
    Arm, CellResult, Experiment, Limit,
    statistics::{self, median},
};
use cairn_targets::{Cache, Flavour, find};
use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

/// What is compared on: three fixtures, three libraries.
pub const ALL: &[&str] =
    &["red-black-tree", "tree-map", "collision-avoidance", "cjson", "libyaml", "lodepng"];

/// The paper's criteria.
const CRITERIA: [&str; 4] = ["none", "decision", "condition", "path"];

/// The most candidates that are made for a target to choose from, and seconds for that.
const MOST_CANDIDATES: u64 = 10_000;
const MAKING: u64 = 300;

/// What the others are compared with.
const UNSEEDED: &str = "fuzz";

/// Carries the comparison out on the named targets and prints its tables.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    println!("Choosing from the same candidates, all run anew by each:\n");
    println!(
        "| target | candidates | templates (path) | by | seeds (effective) | seconds | running and choosing | running seeds | \
         against afl-cmin |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    print_rows(names, |name| choosing(cache, name))?;
    fuzzing(cache, names)
}

/// How long each takes to choose, with everything it needs to start.
fn choosing(cache: &Cache, name: &str) -> Result<String> {
    let target = find(name)?;
    let built = target.build(cache)?;
    let making: u64 = variable("CAIRN_BENCH_MAKING", MAKING)?;
    let all = candidates(cache, target, MOST_CANDIDATES, &format!("{making}s"))?;
    let folder = results(cache, &format!("csefuzz/{name}"))?;
    let afl = target.executable(cache, Flavour::Afl)?;
    let cmin = || -> Result<f64> {
        let output = folder.join("cmin");
        let _ = fs::remove_dir_all(&output);
        let mut cmin = Command::new("afl-cmin");
        cmin.arg("-i").arg(&all).arg("-o").arg(&output).arg("--").arg(&afl);
        cmin.envs([("AFL_ALLOW_TMP", "1"), ("LC_ALL", "C")]).stdin(Stdio::null());
        let start = Instant::now();
        let done = cmin.output().context("failed to start `afl-cmin`")?;
        ensure!(done.status.success(), "`afl-cmin` failed: {}", String::from_utf8_lossy(&done.stderr));
        Ok(start.elapsed().as_secs_f64())
    };
    let cmin_seconds = median_of(cmin)?;
    let mut rows = Vec::new();
    let mut templates = 0;
    for criterion in CRITERIA {
        let seeds = |output: &Path| -> Result<(f64, Value)> {
            let _ = fs::remove_dir_all(output);
            let mut command = Command::new(cache.tools.join("cairn"));
            command.current_dir(&built.folder).arg("seeds").arg(format!("./{name}")).arg(&all);
            command.args(["--no-explore", "--json", "--criterion", criterion, "-o"]).arg(output);
            let start = Instant::now();
            let done = command.stdin(Stdio::null()).output().context("failed to start `cairn`")?;
            let report = serde_json::from_slice(&done.stdout).with_context(|| {
                format!("`cairn seeds` failed: {}", String::from_utf8_lossy(&done.stderr))
            })?;
            Ok((start.elapsed().as_secs_f64(), report))
        };
        let mut last = Value::Null;
        let seconds = median_of(|| {
            let (seconds, report) = seeds(&folder.join(criterion))?;
            last = report;
            Ok(seconds)
        })?;
        templates = last["templates"].as_u64().unwrap_or(0);
        let n_seeds = last["seeds"].as_array().map_or(0, Vec::len);
        let part = |name: &str| last["seconds"][name].as_f64().unwrap_or(f64::NAN);
        let parts = format!("{:.3} | {:.3}", part("measuring") + part("choosing"), part("validating"));
        rows.push((criterion.to_owned(), n_seeds, last["effective"].as_u64(), seconds, parts));
    }
    let n_chosen = fs::read_dir(folder.join("cmin"))?.count();
    rows.push(("afl-cmin".into(), n_chosen, None, cmin_seconds, " | ".into()));
    let n_candidates = fs::read_dir(&all)?.count();
    let row = |(by, n_seeds, n_effective, seconds, parts): &(String, usize, Option<u64>, f64, String)| {
        let effective = n_effective.map_or(String::new(), |n| format!(" ({n})"));
        let saved = 100.0 * (1.0 - seconds / cmin_seconds);
        format!(
            "| {name} | {n_candidates} | {templates} | `{by}` | {n_seeds}{effective} | {seconds:.2} | {parts} | {saved:+.1} % saved |"
        )
    };
    Ok(rows.iter().map(row).collect::<Vec<_>>().join("\n"))
}

/// The median of five times, after one that builds what is missing and reads everything into memory.
fn median_of(mut seconds: impl FnMut() -> Result<f64>) -> Result<f64> {
    seconds()?;
    let all: Result<Vec<f64>> = (0..REPEATS).map(|_| seconds()).collect();
    Ok(median(&all?))
}

/// What fuzzing reaches in equal time.
fn fuzzing(cache: &Cache, names: &[String]) -> Result<()> {
    let seconds: f64 = variable("CAIRN_BENCH_SECONDS", 30.0)?;
    let repetitions: u32 = variable("CAIRN_BENCH_REPETITIONS", 5)?;
    let folder = cache.folder.join("experiments").join(format!("csefuzz-{seconds}s-{}", version(cache)?));
    fs::create_dir_all(&folder)?;
    let mut targets = Vec::new();
    for name in names {
        let mut described = library(cache, &folder, name)?;
        // What `choosing` has left.
        let cmin = cache.folder.join("results/csefuzz").join(name).join("cmin");
        described.values.insert("cmin".into(), cmin.display().to_string());
        let built = find(name)?.build(cache)?;
        let prepare = format!(
            "rm -rf prepared && cairn run ./{name} -o prepared --inputs 1 --workers 1 --strategy csefuzz --criterion path"
        );
        cache.shell(&built.folder, &prepare, &[])?;
        targets.push(described);
    }
    let mut arms = vec![arms::strategy(UNSEEDED, "--strategy fuzz")];
    arms.extend(CRITERIA.map(|criterion| {
        arms::strategy(
            &format!("csefuzz-{criterion}"),
            &format!("--strategy csefuzz --criterion {criterion}"),
        )
    }));
    arms.push(arms::strategy("csefuzz-first", "--strategy csefuzz --criterion path --candidates-first"));
    arms.push(from_cmin());
    keep_wanted(&mut arms);
    let limit = Limit { cpu_seconds: Some(seconds), ..Limit::default() };
    let experiment = Experiment { name: "csefuzz".into(), repetitions, limit, arms, targets };
    let results = carry_out(cache, &experiment, &folder)?;
    println!(
        "\nFuzzing, {seconds} seconds of processor time each, candidates included; medians of {repetitions}:\n"
    );
    println!("| target | arm | branches | Â12 against fuzz | basic paths | defects |");
    println!("|---|---|---|---|---|---|");
    for name in names {
        let cells = |arm: &Arm| -> Result<Vec<Cell>> {
            let place = |repetition: u32| results.join(name).join(&arm.name).join(repetition.to_string());
            (1..=repetitions).map(|repetition| Cell::read(cache, name, &place(repetition))).collect()
        };
        let unseeded: Vec<f64> = cells(&experiment.arms[0])?.iter().map(|cell| cell.n_branches).collect();
        for arm in &experiment.arms {
            let cells = cells(arm)?;
            let of = |what: fn(&Cell) -> f64| cells.iter().map(what).collect::<Vec<f64>>();
            println!(
                "| {name} | {} | {} | {:.2} | {} | {} |",
                arm.name,
                median(&of(|cell| cell.n_branches)),
                statistics::a12(&of(|cell| cell.n_branches), &unseeded),
                median(&of(|cell| cell.n_paths)),
                median(&of(|cell| cell.n_defects)),
            );
        }
    }
    Ok(())
}

/// Fuzzing from what `afl-cmin` chose, for which candidates cost nothing.
fn from_cmin() -> Arm {
    let mut arm = arms::strategy("afl-cmin", "--strategy fuzz");
    arm.command.iter_mut().filter(|word| *word == "{seeds}").for_each(|word| *word = "{cmin}".into());
    arm
}

/// What one run of an arm came to.
struct Cell {
    n_branches: f64,
    n_paths: f64,
    n_defects: f64,
}

impl Cell {
    fn read(cache: &Cache, name: &str, folder: &Path) -> Result<Self> {
        let result: CellResult = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
        let paths = folder.join("paths.json");
        if !paths.exists() {
            let built = find(name)?.build(cache)?;
            let script = format!(
                "cairn seeds ./{name} '{corpus}' --no-explore --criterion path --json -o '{out}' --force > '{paths}.new' || [ $? -eq 3 ] && mv '{paths}.new' '{paths}'",
                corpus = folder.join("out/corpus").display(),
                out = folder.join("chosen").display(),
                paths = paths.display(),
            );
            cache.shell(&built.folder, &script, &[])?;
        }
        let paths: Value = serde_json::from_slice(&fs::read(&paths)?)?;
        let journal = fs::read_to_string(folder.join("out/events.jsonl"))?;
        let events = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let n_defects = events.filter_map(|event| event["n_failures"].as_f64()).next_back();
        Ok(Self {
            n_branches: result.reached() as f64,
            n_paths: paths["covered"].as_f64().context("a report says what is covered")?,
            n_defects: n_defects.unwrap_or(0.0),
        })
    }
}
