//! Distilled corpora: how small, how complete and how quickly, against `afl-cmin`.

use crate::tools::{empty, print_rows};
use anyhow::{Context, Result, ensure};
use cairn_executor::RunConfig;
use cairn_experiment::coverage::{Coverage, Tools};
use cairn_model::Input;
use cairn_targets::{Cache, Flavour, Target, find};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

/// Who is distilled.
pub const ALL: &[&str] = &["cjson", "libyaml", "lodepng"];

/// How many inputs libFuzzer tries to make a corpus.
const N_RUNS: u64 = 100_000;

/// Distils corpora that libFuzzer made, and prints what is left of each.
pub fn run(cache: &Cache, names: &[String]) -> Result<()> {
    println!("| corpus | tool | files | bytes | branches (clang) | edges (AFL++) | seconds |");
    println!("|---|---|---|---|---|---|---|");
    print_rows(names, |name| rows(cache, name))
}

fn rows(cache: &Cache, name: &str) -> Result<String> {
    let target = find(name)?;
    let built = target.build(cache)?;
    let corpus = corpus(cache, target)?;
    let folder = cache.folder.join("results/distill").join(name);
    empty(&folder)?;
    let afl = target.executable(cache, Flavour::Afl)?;
    let program = format!("./{}", target.program_name);
    let minimize = |output: &str, more: &[&str]| {
        let output = folder.join(output);
        let mut command = Command::new(cache.tools.join("cairn"));
        command.current_dir(&built.folder).arg("minimize").arg(&program).arg(&corpus).arg("-o").arg(&output);
        command.args(more);
        (command, output)
    };
    let cmin = |output: &str, more: &[&str]| {
        let output = folder.join(output);
        let mut command = Command::new("afl-cmin");
        command.args(["-i"]).arg(&corpus).arg("-o").arg(&output).args(more).arg("--").arg(&afl);
        command.envs([("AFL_ALLOW_TMP", "1"), ("LC_ALL", "C")]);
        (command, output)
    };
    let sets = [
        ("cairn minimize", minimize("reduced", &[])),
        ("cairn minimize --no-reduce", minimize("chosen", &["--no-reduce"])),
        ("afl-cmin -e", cmin("edges", &["-e"])),
        ("afl-cmin", cmin("counts", &[])),
    ];
    let measured = Measured::new(cache, target, &afl)?;
    let mut rows = vec![measured.row(&format!("| {name} | (all)"), &corpus, 0.0)?];
    for (tool, (mut command, output)) in sets {
        let start = Instant::now();
        let done =
            command.stdin(Stdio::null()).output().with_context(|| format!("failed to start `{tool}`"))?;
        let seconds = start.elapsed().as_secs_f64();
        let errors = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "`{tool}` failed: {}\n{errors}", done.status);
        rows.push(measured.row(&format!("| {name} | `{tool}`"), &output, seconds)?);
    }
    Ok(rows.join("\n"))
}

/// What libFuzzer keeps of a fixed number of inputs, made once.
fn corpus(cache: &Cache, target: &Target) -> Result<PathBuf> {
    let fuzzer = target.executable(cache, Flavour::LibFuzzer)?;
    let samples = target.record(cache)?.folder;
    let script = format!(
        "mkdir corpus && cp -r '{}/.' corpus/ && '{}' -runs={N_RUNS} -seed=1 corpus || true",
        samples.display(),
        fuzzer.display()
    );
    let name = format!("corpora/{}", target.name);
    let folder = cache.step(&name, &script, |folder| cache.shell(folder, &script, &[]).map(|_| ()))?;
    Ok(folder.join("corpus"))
}

/// Measures corpora of one target.
struct Measured<'a> {
    coverage: PathBuf,
    files: Vec<PathBuf>,
    afl: &'a Path,
}

impl<'a> Measured<'a> {
    fn new(cache: &Cache, target: &Target, afl: &'a Path) -> Result<Self> {
        let coverage = target.executable(cache, Flavour::Coverage)?;
        let files = target.scope_files(&coverage)?;
        Ok(Self { coverage, files, afl })
    }

    fn row(&self, begin: &str, folder: &Path, seconds: f64) -> Result<String> {
        let tools = Tools { profdata: "llvm-profdata-19".into(), cov: "llvm-cov-19".into() };
        let mut coverage = Coverage::new(&self.coverage, self.files.clone(), tools, RunConfig::default())?;
        let (mut n_files, mut n_bytes) = (0, 0);
        for path in files(folder)? {
            let bytes = fs::read(&path)?;
            (n_files, n_bytes) = (n_files + 1, n_bytes + bytes.len());
            coverage.add(&Input { stdin: bytes.into(), ..Input::default() })?;
        }
        let branches = coverage.reached()?.branches.reached;
        let edges = self.edges(folder)?;
        Ok(format!("{begin} | {n_files} | {n_bytes} | {branches} | {edges} | {seconds:.1} |"))
    }

    /// Edges of AFL++'s own map, hit counts aside.
    fn edges(&self, folder: &Path) -> Result<usize> {
        let map = std::env::temp_dir().join(format!("cairn-bench-map-{}", std::process::id()));
        let mut command = Command::new("afl-showmap");
        command.args(["-q", "-e", "-C", "-i"]).arg(folder).arg("-o").arg(&map).arg("--").arg(self.afl);
        command.env("LC_ALL", "C").stdin(Stdio::null());
        let output = command.output().context("failed to start `afl-showmap`")?;
        let text = fs::read_to_string(&map)
            .with_context(|| format!("afl-showmap: {}", String::from_utf8_lossy(&output.stderr)))?;
        fs::remove_file(&map)?;
        Ok(text.lines().count())
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    let is_hidden =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    paths.retain(|path| path.is_file() && !is_hidden(path));
    paths.sort();
    Ok(paths)
}
