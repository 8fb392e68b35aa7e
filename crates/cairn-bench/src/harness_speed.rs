//! Harnesses: runs per second, against AFL++'s persistent mode and libFuzzer.

use crate::{
    afl::{Client, Delivery},
    measure::{Pair, Pinned, short},
    random::Random,
    speed::{LASTS, NOVELTY, about_afl, add_to_baseline, check_live, how_they_ran, rate, session},
    table::{Goal, Row, Table},
};
use anyhow::{Context, Result, ensure};
use cairn_abi::session::RunnerMode;
use cairn_executor::{BufferEnd, Session, SessionConfig, WantedCounters, Wants};
use cairn_model::Input;
use cairn_targets::{Cache, Flavour, find};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

/// Who is measured.
pub const ALL: &[&str] = &["tiny", "cjson"];

/// Buffers handed over at once.
const BATCH: usize = 64;

/// Measures a harness, against each of the two.
pub fn run(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let target = find(name)?;
    let theirs = target.executable(cache, Flavour::Afl)?;
    let fuzzer = target.executable(cache, Flavour::LibFuzzer)?;
    let built = target.build(cache)?;
    let buffers = buffers(&target.record(cache)?.folder)?;
    let _pinned = Pinned::to_one_core()?;
    let config = SessionConfig { mode: RunnerMode::Persistent, max_batch: BATCH, ..SessionConfig::default() };
    let mut session = session(&built, target.program_name, config)?;
    let our_command =
        format!("session of {} (persistent, sandbox full, batches of {BATCH})", built.plain.display());
    let row = |what: String, peer_command, pair, goal, notes: Vec<String>| Row {
        what,
        our_command: our_command.clone(),
        peer_command,
        unit: "runs/s",
        pair,
        goal,
        notes,
    };
    check_counted(&mut session, &buffers)?;
    let mut client = Client::start(&theirs, &[], Delivery::SharedMemory)?;
    check_peer(&mut client, &buffers)?;
    let pair = Pair::measure(
        || rate(|| run_ours(&mut session, &buffers)),
        || {
            rate(|| {
                for buffer in &buffers {
                    client.run(buffer)?;
                }
                Ok(buffers.len())
            })
        },
    )?;
    check_peer(&mut client, &buffers)?;
    check_counted(&mut session, &buffers)?;
    check_live(&session)?;
    let command = format!("AFL++ forkserver of {} (persistent, shared memory)", theirs.display());
    let mut notes = vec![format!("both run the same {} buffers", buffers.len())];
    notes.extend(about_afl(built.n_counters, &client)?);
    notes.push(how_they_ran(&session));
    drop(client);
    table.add(
        cache,
        row(format!("harness: {name}, AFL++ persistent"), command, pair, Goal::AtLeast(2.0), notes),
    )?;
    let corpus = cache.folder.join("results/libfuzzer");
    let n_runs = calibrate(&fuzzer, &buffers, &corpus)?;
    let pair = Pair::measure(
        || rate(|| run_ours(&mut session, &buffers)),
        || fuzzer_rate(&fuzzer, &buffers, &corpus, n_runs),
    )?;
    check_counted(&mut session, &buffers)?;
    check_live(&session)?;
    let on_files = rate_on_files(&fuzzer, &buffers, &corpus, n_runs)?;
    let command = format!("{} -runs={n_runs} -max_len={} CORPUS", fuzzer.display(), longest(&buffers));
    let notes = vec![
        "libFuzzer makes inputs of its own from ours, which takes part of its time".into(),
        format!(
            "on the same {} buffers, made by nobody but read from their files for each run, it makes {} runs/s",
            buffers.len(),
            short(on_files)
        ),
        how_they_ran(&session),
    ];
    table.add(cache, row(format!("harness: {name}, libFuzzer"), command, pair, Goal::AtLeast(0.9), notes))
}

fn run_ours(session: &mut Session, buffers: &[Vec<u8>]) -> Result<usize> {
    let mut new = Vec::new();
    for chunk in buffers.chunks(BATCH) {
        let mut batch = session.buffers();
        for buffer in chunk {
            ensure!(batch.push(buffer), "a batch does not hold {BATCH} buffers");
        }
        for run in batch.run(NOVELTY)? {
            if let Some(counters) = run.counters {
                new.push(counters.to_vec());
            }
        }
        for counters in new.drain(..) {
            add_to_baseline(session.baseline(), &counters);
        }
    }
    Ok(buffers.len())
}

/// Fails unless every buffer returns, and leaves in the session the counters that it leaves in a fresh process: a rate
/// of runs that did nothing would be a fine one.
fn check_counted(session: &mut Session, buffers: &[Vec<u8>]) -> Result<()> {
    let always = Wants { counters: WantedCounters::Always, output: false };
    for buffer in buffers {
        let input = Input { buffer: Some(buffer.clone().into()), ..Input::default() };
        let fresh = session.run_fresh(&input)?;
        let mut batch = session.buffers();
        ensure!(batch.push(buffer), "a buffer of {} bytes does not fit", buffer.len());
        let mut runs = batch.run(always)?;
        let run = runs.next().context("a buffer gave no run")?;
        ensure!(matches!(run.end, BufferEnd::Returned(_)), "a buffer ends our run: {:?}", run.end);
        ensure!(
            run.counters == Some(&fresh.counters),
            "a run in the session is not counted as a fresh one is"
        );
        ensure!(fresh.counters.iter().any(|counter| *counter > 0), "a run of ours hit no counter");
    }
    Ok(())
}

/// Fails unless every buffer returns from AFL++'s loop, which then stops itself, and leaves something in the map.
fn check_peer(client: &mut Client, buffers: &[Vec<u8>]) -> Result<()> {
    for buffer in buffers {
        let (status, _) = client.run(buffer)?;
        let has_returned =
            libc::WIFSTOPPED(status) || libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        ensure!(has_returned, "a buffer ends AFL++'s build with wait status {status}");
        ensure!(client.n_hit() > 0, "a run of AFL++'s build left nothing in its map");
    }
    Ok(())
}

/// A target's samples, or where it has none a few hundred bytes of this and that.
fn buffers(samples: &Path) -> Result<Vec<Vec<u8>>> {
    let mut paths: Vec<_> = fs::read_dir(samples)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut buffers = paths.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let mut random = Random(3);
    while buffers.len() < 4 * BATCH && paths.is_empty() {
        let length = 1 + random.below(64);
        buffers.push((0..length).map(|_| random.next() as u8).collect());
    }
    Ok(buffers)
}

fn longest(buffers: &[Vec<u8>]) -> usize {
    buffers.iter().map(Vec::len).max().unwrap_or(1)
}

/// So many runs on this corpus that they take about as long as a repeat of ours.
///
/// A short sample would be mostly start-up and make libFuzzer look slow, so the sample grows until it is long itself.
fn calibrate(fuzzer: &Path, buffers: &[Vec<u8>], folder: &Path) -> Result<u64> {
    let mut n_runs = 5_000;
    loop {
        let start = Instant::now();
        let rate = fuzzer_rate(fuzzer, buffers, folder, n_runs)?;
        if start.elapsed() * 2 > LASTS {
            return Ok((rate * LASTS.as_secs_f64()) as u64);
        }
        n_runs *= 3;
    }
}

/// Makes a folder that holds the buffers and nothing else; returns their paths.
fn write_corpus(buffers: &[Vec<u8>], folder: &Path) -> Result<Vec<PathBuf>> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let write = |(index, buffer): (usize, &Vec<u8>)| {
        let path = folder.join(format!("{index:04}"));
        fs::write(&path, buffer)?;
        Ok(path)
    };
    buffers.iter().enumerate().map(write).collect()
}

/// libFuzzer running each of these files so often that there are about `n_runs` runs in all, without changing them.
fn rate_on_files(fuzzer: &Path, buffers: &[Vec<u8>], folder: &Path, n_runs: u64) -> Result<f64> {
    let paths = write_corpus(buffers, folder)?;
    let n_each = (n_runs / paths.len().max(1) as u64).max(1);
    let mut command = Command::new(fuzzer);
    command.arg(format!("-runs={n_each}")).args(&paths).stdin(Stdio::null());
    let start = Instant::now();
    let output = command.output().context("failed to start libFuzzer")?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{}` failed: {}\n{text}", fuzzer.display(), output.status);
    let n_executed = text.lines().filter(|line| line.starts_with("Executed ")).count();
    ensure!(n_executed == paths.len(), "libFuzzer ran {n_executed} of {} files", paths.len());
    Ok((n_each * paths.len() as u64) as f64 / seconds)
}

/// libFuzzer on a corpus of its own, made anew each time because it adds to it.
fn fuzzer_rate(fuzzer: &Path, buffers: &[Vec<u8>], folder: &Path, n_runs: u64) -> Result<f64> {
    write_corpus(buffers, folder)?;
    let mut command = Command::new(fuzzer);
    command
        .arg(format!("-runs={n_runs}"))
        .arg(format!("-max_len={}", longest(buffers)))
        .args(["-seed=1", "-print_final_stats=1", "-verbosity=0"])
        .arg(folder);
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output().context("failed to start libFuzzer")?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{}` failed: {}\n{text}", fuzzer.display(), output.status);
    let executed = text.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let executed: f64 =
        executed.and_then(|number| number.trim().parse().ok()).context("libFuzzer printed no figures")?;
    ensure!(executed >= n_runs as f64, "libFuzzer made {executed} of {n_runs} runs");
    Ok(executed / seconds)
}
