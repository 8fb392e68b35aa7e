//! Mutant feedback against coverage alone, in equal processor time: the tables of the Mu2 paper for our targets.
//!
//! Both arms are Cairn, so what differs is the feedback. Branches are counted by clang's build, as for peers; which mutants a
//! corpus kills is scored from nothing, by `cairn score`.

use super::{arms, carry_out, library, variable, version, with_arguments};
use anyhow::{Context, Result, ensure};
use cairn_experiment::{
    CellResult, Experiment, Limit,
    statistics::{self, median},
};
use cairn_targets::{Cache, Kind, find};
use serde_json::Value;
use std::{collections::BTreeSet, fs, path::Path};

/// What is compared on.
pub const ALL: &[&str] = &["cjson", "libyaml", "lodepng", "sort"];

/// Coverage alone, mutant feedback, and the same without leaving out mutants that make no difference.
const ARMS: [(&str, &str); 3] = [
    ("fuzz", "--strategy fuzz"),
    ("mu2", "--strategy mu2 --no-recheck"),
    ("mu2-unpruned", "--strategy mu2 --no-recheck --no-mutant-pruning"),
];

/// What one run of an arm came to.
struct Cell {
    killed: BTreeSet<String>,
    n_differential: u64,
    n_branches: f64,
    inputs_per_second: f64,
}

/// Carries the comparison out on the named targets and prints its tables.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    let seconds: f64 = variable("CAIRN_BENCH_SECONDS", 60.0)?;
    let repetitions: u32 = variable("CAIRN_BENCH_REPETITIONS", 5)?;
    // Equal trials instead of equal time.
    let inputs: u64 = variable("CAIRN_BENCH_INPUTS", 0)?;
    let (limit, limited, amount) = match inputs {
        0 => (Limit { cpu_seconds: Some(seconds), ..Limit::default() }, arms::BY_TIME, format!("{seconds}s")),
        _ => (Limit { inputs: Some(inputs), ..Limit::default() }, "--inputs {inputs}", inputs.to_string()),
    };
    let folder = cache.folder.join("experiments").join(format!("mu2-{amount}-{}", version(cache)?));
    fs::create_dir_all(&folder)?;
    let mut targets = Vec::new();
    for name in names {
        targets.push(match find(name)?.kind {
            Kind::Harness(_) => library(cache, &folder, name)?,
            Kind::Program => with_arguments(cache, &folder, name)?,
        });
        let built = find(name)?.build(cache)?;
        // The view is built before anything is measured.
        let build = format!("cairn mutants ./{} --set mu2 > mutants.txt", find(name)?.program_name);
        cache.shell(&built.folder, &build, &[])?;
    }
    let experiment = Experiment {
        name: "mu2".into(),
        repetitions,
        arms: ARMS.map(|(name, options)| arms::limited(name, options, limited)).to_vec(),
        limit,
        targets,
    };
    let results = carry_out(cache, &experiment, &folder)?;
    println!(
        "| target | killed by fuzz | by mu2 | Â12 | no fuzz: any mu2 / all mu2 | no mu2: any fuzz / all fuzz | branches mu2 : fuzz | \
         differential oracle | inputs/s mu2 : fuzz | unpruned : mu2 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for name in names {
        let cells = |arm: &str| -> Result<Vec<Cell>> {
            let place = |repetition: u32| results.join(name).join(arm).join(repetition.to_string());
            (1..=repetitions).map(|repetition| cell(cache, name, &place(repetition))).collect()
        };
        let [fuzz, mu2, unpruned] = ARMS.map(|(arm, _)| cells(arm));
        let (fuzz, mu2, unpruned) = (fuzz?, mu2?, unpruned?);
        println!("{}", row(name, &fuzz, &mu2, &unpruned));
    }
    Ok(())
}

/// One run of an arm: what its corpus kills, and what was counted.
fn cell(cache: &Cache, name: &str, folder: &Path) -> Result<Cell> {
    let target = find(name)?;
    let built = target.build(cache)?;
    let report = folder.join("score.json");
    if !report.exists() {
        let draft = folder.join("score.json.new");
        let command = format!(
            "cairn score ./{} {} --set mu2 --format json -o {}",
            target.program_name,
            folder.join("out/corpus").display(),
            draft.display()
        );
        let _ = fs::remove_file(&draft);
        // Survivors are no failure here.
        cache.shell(
            &built.folder,
            &format!("{command} || [ $? -eq 1 ] || [ -s {} ]", draft.display()),
            &[],
        )?;
        fs::rename(&draft, &report)?;
    }
    let score: Value = serde_json::from_slice(&fs::read(&report)?)?;
    ensure!(score["score"]["pending"] == 0, "the score of `{}` is not whole", folder.display());
    let mutants = score["mutants"].as_array().context("a score lists mutants")?;
    let is_killed = |mutant: &&Value| mutant["fate"] == "killed";
    let id = |mutant: &Value| mutant["id"].as_str().unwrap_or_default().to_owned();
    let by = |reason: &str| score["score"]["killed_by"][reason].as_u64().unwrap_or(0);
    let result: CellResult = serde_json::from_slice(&fs::read(folder.join("result.json"))?)?;
    let n_inputs = last_moment(&folder.join("out/events.jsonl"))?;
    Ok(Cell {
        killed: mutants.iter().filter(is_killed).map(id).collect(),
        n_differential: by("output") + by("exit") + by("files"),
        n_branches: result.reached() as f64,
        inputs_per_second: n_inputs / result.cpu_seconds,
    })
}

/// Inputs tried, as the last moment of a journal says.
fn last_moment(journal: &Path) -> Result<f64> {
    let text = fs::read_to_string(journal)?;
    let moments = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tried = moments.filter_map(|event| event["n_inputs"].as_f64()).next();
    tried.context("no moment was told")
}

fn row(name: &str, fuzz: &[Cell], mu2: &[Cell], unpruned: &[Cell]) -> String {
    let numbers = |cells: &[Cell], of: fn(&Cell) -> f64| cells.iter().map(of).collect::<Vec<f64>>();
    let killed = |cells: &[Cell]| numbers(cells, |cell| cell.killed.len() as f64);
    let branches = |cells: &[Cell]| median(&numbers(cells, |cell| cell.n_branches));
    let speed = |cells: &[Cell]| median(&numbers(cells, |cell| cell.inputs_per_second));
    let differential = |cell: &Cell| cell.n_differential as f64 * 100.0 / cell.killed.len().max(1) as f64;
    let (no_fuzz, no_mu2) = (only(mu2, fuzz), only(fuzz, mu2));
    format!(
        "| {name} | {} | {} | {:.2} | {} / {} | {} / {} | {:.3} | {:.0} % | {:.2} | {:.2} |",
        spread(&killed(fuzz)),
        spread(&killed(mu2)),
        statistics::a12(&killed(mu2), &killed(fuzz)),
        no_fuzz.0,
        no_fuzz.1,
        no_mu2.0,
        no_mu2.1,
        branches(mu2) / branches(fuzz),
        median(&numbers(mu2, differential)),
        speed(mu2) / speed(fuzz),
        speed(unpruned) / speed(mu2),
    )
}

/// Mutants that any, and that all runs of one arm kill, and no run of the other.
fn only(one: &[Cell], other: &[Cell]) -> (usize, usize) {
    let others: BTreeSet<&String> = other.iter().flat_map(|cell| &cell.killed).collect();
    let any: BTreeSet<&String> =
        one.iter().flat_map(|cell| &cell.killed).filter(|mutant| !others.contains(mutant)).collect();
    let n_all = any.iter().filter(|mutant| one.iter().all(|cell| cell.killed.contains(**mutant))).count();
    (any.len(), n_all)
}

/// The median, with the least and the most.
fn spread(numbers: &[f64]) -> String {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{} ({least}–{most})", median(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(killed: &[&[&str]]) -> Vec<Cell> {
        let cell = |killed: &&[&str]| Cell {
            killed: killed.iter().map(ToString::to_string).collect(),
            n_differential: 1,
            n_branches: 10.0,
            inputs_per_second: 5.0,
        };
        killed.iter().map(cell).collect()
    }

    #[test]
    fn any_and_all_are_told_apart() {
        let fuzz = cells(&[&["a"], &["a", "b"]]);
        let mu2 = cells(&[&["a", "c", "d"], &["c"]]);
        assert_eq!(only(&mu2, &fuzz), (2, 1));
        assert_eq!(only(&fuzz, &mu2), (1, 0));
    }
}
