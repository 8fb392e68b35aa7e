//! What Cairn, AFL++ and libFuzzer reach in equal processor time, measured by one build of clang's for all.
//!
//! Descriptions of `cairn experiment` are written into the cache, and carried out.

mod arms;
pub mod csefuzz;
pub mod heuristics;
mod inputs;
pub mod mu2;

use self::inputs::Recorded;
use anyhow::{Context, Result, bail, ensure};
use cairn_experiment::{Arm, Experiment, Limit, Target as Described};
use cairn_targets::{Cache, Flavour, Target, find};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The comparisons: harnesses of libraries; programs whose standard input is fuzzed under recorded arguments; programs of
/// which everything is.
pub const ALL: &[&str] = &["libraries", "stdin", "arguments"];

/// Recorded arguments under which standard input is fuzzed.
const N_ARGUMENTS: usize = 10;

/// Carries out one comparison.
pub fn run(cache: &Cache, name: &str) -> Result<()> {
    let seconds: f64 = variable("CAIRN_BENCH_SECONDS", 60.0)?;
    let folder = cache.folder.join("experiments").join(format!("{name}-{seconds}s-{}", version(cache)?));
    fs::create_dir_all(&folder)?;
    let programs = ["sort", "grep"];
    let (targets, seconds) = match name {
        "libraries" => {
            let targets = ["cjson", "libyaml", "lodepng"].map(|name| library(cache, &folder, name));
            (targets.into_iter().collect::<Result<Vec<_>>>()?, seconds)
        }
        "stdin" => {
            let targets = programs.map(|name| under_arguments(cache, &folder, name));
            let targets = targets.into_iter().collect::<Result<Vec<_>>>()?;
            (targets.into_iter().flatten().collect(), seconds / N_ARGUMENTS as f64)
        }
        "arguments" => {
            let targets = programs.map(|name| with_arguments(cache, &folder, name));
            (targets.into_iter().collect::<Result<Vec<_>>>()?, seconds)
        }
        unknown => bail!("there is no comparison `{unknown}`; there are {}", ALL.join(", ")),
    };
    let arms = match name {
        "libraries" => vec![arms::cairn(), arms::afl(&[]), arms::libfuzzer()],
        "stdin" => vec![arms::cairn(), arms::afl(&[])],
        _ => vec![arms::cairn(), arms::afl(&[("CAIRN_SPLIT", "1")])],
    };
    let experiment = Experiment {
        name: name.into(),
        repetitions: variable("CAIRN_BENCH_REPETITIONS", 5)?,
        limit: Limit { cpu_seconds: Some(seconds), ..Default::default() },
        arms,
        targets,
    };
    carry_out(cache, &experiment, &folder).map(drop)
}

/// Carries an experiment out in a folder, and returns the folder of its results.
fn carry_out(cache: &Cache, experiment: &Experiment, folder: &Path) -> Result<PathBuf> {
    let path = folder.join("experiment.toml");
    fs::write(&path, toml::to_string(experiment)?)?;
    let results = folder.join("results");
    let mut command = Command::new(cache.tools.join("cairn"));
    command.arg("experiment").arg(&path).arg("-o").arg(&results);
    if let Ok(core) = env::var("CAIRN_BENCH_CORE") {
        command.args(["--core", &core]);
    }
    ensure!(command.status()?.success(), "`{command:?}` failed");
    Ok(results)
}

/// Keeps the first arm, with which others are compared, and those that `CAIRN_BENCH_ARMS` names if it is set.
fn keep_wanted(arms: &mut Vec<Arm>) {
    let Ok(wanted) = env::var("CAIRN_BENCH_ARMS") else { return };
    let first = arms.first().map(|arm| arm.name.clone());
    arms.retain(|arm| Some(&arm.name) == first.as_ref() || wanted.split(',').any(|name| name == arm.name));
}

/// Results of another Cairn are not this one's.
fn version(cache: &Cache) -> Result<String> {
    let hashes = ["cairn", "cairn-cc"].map(|tool| cache.tool_hash(tool));
    let hashes: Vec<String> = hashes.into_iter().collect::<Result<_, _>>()?;
    Ok(hashes.iter().map(|hash| &hash[..6]).collect())
}

fn variable<T: std::str::FromStr>(name: &str, otherwise: T) -> Result<T> {
    match env::var(name) {
        Ok(text) => text.parse().ok().with_context(|| format!("`{name}` is `{text}`, not a number")),
        Err(_) => Ok(otherwise),
    }
}

/// A harness, also as AFL++ and libFuzzer run it.
fn library(cache: &Cache, folder: &Path, name: &str) -> Result<Described> {
    let target = find(name)?;
    let mut described = harness(cache, folder, name)?;
    let fuzzer = target.executable(cache, Flavour::LibFuzzer)?;
    described.values.insert("libfuzzer".into(), text(&fuzzer));
    with_afl(cache, target, described)
}

/// A harness: files are buffers.
fn harness(cache: &Cache, folder: &Path, name: &str) -> Result<Described> {
    let target = find(name)?;
    let seeds = folder.join("seeds").join(name);
    fs::create_dir_all(&seeds)?;
    for entry in fs::read_dir(target.record(cache)?.folder)? {
        let path = entry?.path();
        fs::copy(&path, seeds.join(path.file_name().context("a sample without a name")?))?;
    }
    if fs::read_dir(&seeds)?.next().is_none() {
        // AFL++ wants one.
        fs::write(seeds.join("something"), "something\n")?;
    }
    describe(cache, target, name.into(), seeds)
}

/// A program under each of some recorded arguments: files are standard input.
fn under_arguments(cache: &Cache, folder: &Path, name: &str) -> Result<Vec<Described>> {
    let target = find(name)?;
    let recorded = Recorded::without_files(&target.record(cache)?.folder)?;
    let seeds = folder.join("seeds").join(name);
    recorded.write_stdins(&seeds, N_ARGUMENTS)?;
    let arguments = recorded.arguments(N_ARGUMENTS);
    let described = arguments.into_iter().enumerate().map(|(index, args)| {
        let mut described = describe(cache, target, format!("{name}-{}", index + 1), seeds.clone())?;
        described.coverage_args.clone_from(&args);
        described.args = args;
        with_afl(cache, target, described)
    });
    described.collect()
}

/// A program with arguments and standard input: Cairn's files are whole inputs, AFL++'s go through the splitter.
fn with_arguments(cache: &Cache, folder: &Path, name: &str) -> Result<Described> {
    let target = find(name)?;
    let recorded = Recorded::without_files(&target.record(cache)?.folder)?;
    let (seeds, split) = (folder.join("whole").join(name), folder.join("split").join(name));
    recorded.write_whole(&seeds)?;
    recorded.write_split(&split)?;
    let mut described = with_afl(cache, target, describe(cache, target, name.into(), seeds)?)?;
    described.values.insert("afl_seeds".into(), text(&split));
    Ok(described)
}

/// A program with everything that its test suite gives it, files too; for Cairn alone.
fn as_recorded(cache: &Cache, folder: &Path, name: &str) -> Result<Described> {
    let target = find(name)?;
    let seeds = folder.join("recorded").join(name);
    Recorded::all(&target.record(cache)?.folder)?.write_whole(&seeds)?;
    describe(cache, target, name.into(), seeds)
}

/// What all have in common.
fn describe(cache: &Cache, target: &Target, name: String, seeds: PathBuf) -> Result<Described> {
    let built = target.build(cache)?;
    // A campaign builds the views that are missing, which is no part of what is compared.
    let prepare =
        format!("rm -rf prepared && cairn run ./{} -o prepared --inputs 1 --workers 1", target.program_name);
    cache.shell(&built.folder, &prepare, &[])?;
    let mut coverage = target.executable(cache, Flavour::Coverage)?;
    let files = target.scope_files(&coverage)?;
    if !coverage.ends_with(target.program_name) {
        // What it is called decides what it does.
        let called = coverage.with_file_name(target.program_name);
        fs::copy(&coverage, &called)?;
        coverage = called;
    }
    let values = BTreeMap::from([
        ("cairn".into(), text(&cache.tools.join("cairn"))),
        ("folder".into(), text(&built.folder)),
        ("program".into(), text(&built.program)),
    ]);
    Ok(Described { name, seeds, args: Vec::new(), files, coverage, coverage_args: Vec::new(), values })
}

/// With what AFL++ needs.
fn with_afl(cache: &Cache, target: &Target, mut described: Described) -> Result<Described> {
    described.values.extend([
        ("afl".into(), text(&target.executable(cache, Flavour::Afl)?)),
        ("cmplog".into(), text(&target.executable(cache, Flavour::AflCmplog)?)),
        ("afl_seeds".into(), text(&described.seeds)),
    ]);
    Ok(described)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
