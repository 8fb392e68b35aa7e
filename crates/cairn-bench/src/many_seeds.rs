//! Forty thousand candidates: how long it takes to choose seeds from them, and how much memory.

use crate::{
    measure::{Pair, REPEATS, Samples},
    table::{Goal, Row, Table},
    tools::empty,
};
use anyhow::{Context, Result, ensure};
use cairn_targets::{Cache, Target, find};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Whose candidates they are.
pub const ALL: &[&str] = &["red-black-tree"];

/// Candidates, as many as the paper's red-black tree has.
const N_CANDIDATES: u64 = 40_000;

/// The limits.
const MOST_SECONDS: f64 = 5.0;
const MOST_MEGABYTES: f64 = 200.0;

/// Chooses seeds by basic paths, five times.
pub fn run(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let target = find(name)?;
    let built = target.build(cache)?;
    let candidates = candidates(cache, target, N_CANDIDATES, "10m")?;
    let output = cache.folder.join("results/many-seeds").join(name);
    let mut words = vec!["seeds".into(), format!("./{name}"), candidates.display().to_string()];
    words.extend(["--no-explore", "--criterion", "path", "--json", "-o"].map(String::from));
    words.push(output.display().to_string());
    let (mut seconds, mut megabytes, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..REPEATS {
        let _ = fs::remove_dir_all(&output);
        let mut command = Command::new(cache.tools.join("cairn"));
        command.current_dir(&built.folder).args(&words).stdin(Stdio::null()).stderr(Stdio::null());
        let (text, memory) = run_and_weigh(command)?;
        let report: Value = serde_json::from_str(&text).context("`cairn seeds` reported nothing")?;
        let part = |name: &str| report["seconds"][name].as_f64().unwrap_or(f64::NAN);
        seconds.push(part("measuring") + part("choosing") + part("validating"));
        megabytes.push(memory);
        notes = vec![format!(
            "{} candidates, {} templates, {} basic paths, {} seeds; {:.2} s running and measuring, {:.3} s choosing",
            report["candidates"],
            report["templates"],
            report["covered"],
            report["seeds"].as_array().map_or(0, Vec::len),
            part("measuring"),
            part("choosing"),
        )];
    }
    let row = |what: &str, unit, samples: Vec<f64>, limit: f64, notes| Row {
        what: format!("{what}: {name}"),
        our_command: format!("cairn {}", words.join(" ")),
        peer_command: "the limit, which leaves out running them; ours includes it".into(),
        unit,
        pair: Pair { peer: Samples(vec![limit; samples.len()]), ours: Samples(samples) },
        goal: Goal::AtMost(1.0),
        notes,
    };
    table.add(cache, row("choosing from 40,000 candidates", "s", seconds, MOST_SECONDS, notes))?;
    table.add(cache, row("memory for 40,000 candidates", "MB", megabytes, MOST_MEGABYTES, Vec::new()))
}

/// All candidates of a target, made once: from its samples, and from what `bench/candidates` has for it.
pub fn candidates(cache: &Cache, target: &Target, most: u64, time: &str) -> Result<PathBuf> {
    let built = target.build(cache)?;
    let samples = target.record(cache)?.folder;
    let more = cache.repository.join("bench/candidates").join(target.name);
    let recipe = format!("{most} {time} {} {}", cache.tool_hash("cairn")?, cache.tool_hash("cairn-cc")?);
    let folder = cache.step(&format!("corpora/candidates-{}", target.name), &recipe, |folder| {
        (cache.say)(&format!("making candidates of {}", target.name));
        let start = folder.join("start");
        let script = format!(
            "mkdir '{start}' && cp -r '{}/.' '{start}' && if [ -d '{more}' ]; then cp -r '{more}/.' '{start}'; fi
             [ -n \"$(ls '{start}')\" ] || head -c 24 /dev/zero > '{start}/zeros'",
            samples.display(),
            more = more.display(),
            start = start.display(),
        );
        cache.shell(folder, &script, &[])?;
        // Failures are findings, and no reason to stop.
        let script = format!(
            "cairn seeds ./{} '{}' --criterion none --candidates {most} --for {time} --json -o '{}/all' > '{}/made.json' || [ $? -eq 3 ]",
            target.program_name,
            start.display(),
            folder.display(),
            folder.display(),
        );
        cache.shell(&built.folder, &script, &[]).map(|_| ())
    })?;
    Ok(folder.join("all"))
}

/// What a command prints, and the most memory it took, in megabytes.
pub fn run_and_weigh(mut command: Command) -> Result<(String, f64)> {
    let output = std::env::temp_dir().join(format!("cairn-bench-output-{}", std::process::id()));
    command.stdout(fs::File::create(&output)?);
    let child = command.spawn().context("failed to start `cairn`")?;
    // SAFETY: an all-zero `rusage` is one.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let mut status = 0;
    // SAFETY: the child is ours and nobody else waits for it; both places are valid.
    let ended = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    ensure!(ended == child.id() as i32 && libc::WIFEXITED(status), "`{command:?}` did not end well");
    let text = fs::read_to_string(&output)?;
    fs::remove_file(&output)?;
    // Linux counts in kilobytes.
    Ok((text, usage.ru_maxrss as f64 / 1024.0))
}

/// An empty folder for results.
pub fn results(cache: &Cache, name: &str) -> Result<PathBuf> {
    let folder: &Path = &cache.folder.join("results").join(name);
    empty(folder)?;
    Ok(folder.to_path_buf())
}
