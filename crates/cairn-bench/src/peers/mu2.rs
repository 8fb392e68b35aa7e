//! Mutant feedback against coverage alone, in equal processor time: the tables of the Mu2 paper for our targets.
//!
//! Both arms are Cairn, so what differs is the feedback. Branches are counted by clang's build, as for peers; which mutants a
//! corpus kills is scored from nothing, by `cairn score`.

use super::{arms, carry_out, library, variable, version, with_arguments};
use anyhow::{Context, Result, bail, ensure};
use cairn_experiment::{
    CellResult, Experiment, Limit,
    statistics::{self, median},
};
use cairn_targets::{Cache, Kind, find};
use serde_json::Value;
use std::{collections::BTreeSet, env, fs, path::Path};

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
    /// The part of the time that went to mutants, in percent.
    on_mutants: f64,
}

/// The runs of each arm on one target; none of an arm that was not wanted.
struct Arms {
    fuzz: Vec<Cell>,
    mu2: Vec<Cell>,
    unpruned: Vec<Cell>,
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
    let wanted = wanted()?;
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
        arms: wanted.iter().map(|(name, options)| arms::limited(name, options, limited)).collect(),
        limit,
        targets,
    };
    let results = carry_out(cache, &experiment, &folder)?;
    let mut all = Vec::new();
    for name in names {
        let cells = |arm: &str| -> Result<Vec<Cell>> {
            let is_wanted = wanted.iter().any(|(name, _)| *name == arm);
            let place = |repetition: u32| results.join(name).join(arm).join(repetition.to_string());
            (1..=if is_wanted { repetitions } else { 0 })
                .map(|repetition| cell(cache, name, &place(repetition)))
                .collect()
        };
        all.push(Arms { fuzz: cells("fuzz")?, mu2: cells("mu2")?, unpruned: cells("mu2-unpruned")? });
    }
    let titles = [
        "target",
        "killed by any",
        "by fuzz",
        "by mu2",
        "Â12",
        "no fuzz: any mu2",
        "all mu2",
        "no mu2: any fuzz",
        "all fuzz",
    ];
    print_table(&titles, names.iter().zip(&all).map(|(name, arms)| kills(name, arms)));
    println!();
    let titles = [
        "target",
        "branches of fuzz",
        "mu2 : fuzz",
        "differential oracle",
        "inputs/s mu2 : fuzz",
        "unpruned : mu2",
        "time on mutants",
    ];
    print_table(&titles, names.iter().zip(&all).map(|(name, arms)| costs(name, arms)));
    Ok(())
}

/// The arms that `CAIRN_BENCH_ARMS` names, with commas between them; the first two are always there.
fn wanted() -> Result<Vec<(&'static str, &'static str)>> {
    let Ok(named) = env::var("CAIRN_BENCH_ARMS") else { return Ok(ARMS.to_vec()) };
    let named: Vec<&str> = named.split(',').collect();
    if let Some(unknown) = named.iter().find(|named| ARMS.iter().all(|(name, _)| name != *named)) {
        bail!("`CAIRN_BENCH_ARMS` names `{unknown}`; there are {}", ARMS.map(|(name, _)| name).join(", "));
    }
    let is_wanted = |(index, (name, _)): &(usize, &(&str, &str))| *index < 2 || named.contains(name);
    Ok(ARMS.iter().enumerate().filter(is_wanted).map(|(_, arm)| *arm).collect())
}

fn print_table(titles: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    println!("| {} |\n|{}", titles.join(" | "), "---|".repeat(titles.len()));
    rows.for_each(|row| println!("| {} |", row.join(" | ")));
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
    let moment = last_moment(&folder.join("out/events.jsonl"))?;
    Ok(Cell {
        killed: mutants.iter().filter(is_killed).map(id).collect(),
        n_differential: by("output") + by("exit") + by("files"),
        n_branches: result.reached() as f64,
        inputs_per_second: moment.n_inputs / result.cpu_seconds,
        on_mutants: moment.on_mutants_ms * 100.0 / moment.after_ms.max(1.0),
    })
}

/// What was done up to the last moment that a journal tells of.
struct LastMoment {
    n_inputs: f64,
    after_ms: f64,
    on_mutants_ms: f64,
}

fn last_moment(journal: &Path) -> Result<LastMoment> {
    let text = fs::read_to_string(journal)?;
    let moments = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let read = |event: Value| {
        let number = |name: &str| event[name].as_f64();
        let on_mutants_ms = number("on_mutants_ms")?;
        Some(LastMoment { n_inputs: number("n_inputs")?, after_ms: number("after_ms")?, on_mutants_ms })
    };
    moments.filter_map(read).next().context("no moment was told")
}

/// Tables I and II of the paper: which mutants which runs kill.
fn kills(name: &str, Arms { fuzz, mu2, .. }: &Arms) -> Vec<String> {
    let killed = |cells: &[Cell]| cells.iter().map(|cell| cell.killed.len() as f64).collect::<Vec<f64>>();
    let any: BTreeSet<&String> = fuzz.iter().chain(mu2).flat_map(|cell| &cell.killed).collect();
    let (no_fuzz, no_mu2) = (only(mu2, fuzz), only(fuzz, mu2));
    vec![
        name.into(),
        any.len().to_string(),
        spread(&killed(fuzz)),
        spread(&killed(mu2)),
        format!("{:.2}", statistics::a12(&killed(mu2), &killed(fuzz))),
        no_fuzz.0.to_string(),
        no_fuzz.1.to_string(),
        no_mu2.0.to_string(),
        no_mu2.1.to_string(),
    ]
}

/// Its Figures 6 to 8: branches, oracles and speed, with the part of the time that mutants took.
fn costs(name: &str, Arms { fuzz, mu2, unpruned }: &Arms) -> Vec<String> {
    let of = |cells: &[Cell], what: fn(&Cell) -> f64| median(&cells.iter().map(what).collect::<Vec<f64>>());
    let differential = |cell: &Cell| cell.n_differential as f64 * 100.0 / cell.killed.len().max(1) as f64;
    let speed = |cells: &[Cell]| of(cells, |cell| cell.inputs_per_second);
    let branches = |cells: &[Cell]| of(cells, |cell| cell.n_branches);
    vec![
        name.into(),
        branches(fuzz).to_string(),
        format!("{:.3}", branches(mu2) / branches(fuzz)),
        format!("{:.0} %", of(mu2, differential)),
        format!("{:.2}", speed(mu2) / speed(fuzz)),
        match unpruned.is_empty() {
            true => "–".into(),
            false => format!("{:.2}", speed(unpruned) / speed(mu2)),
        },
        format!("{:.0} %", of(mu2, |cell| cell.on_mutants)),
    ]
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
            on_mutants: 10.0,
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
