//! Harnesses: runs per second, against AFL++'s persistent mode and libFuzzer.

use crate::{
    afl::{Client, Delivery},
    libfuzzer::LibFuzzer,
    measure::{Pair, Pinned},
    random::Random,
    speed::{NOVELTY, about_afl, add_to_baseline, check_live, how_they_ran, rate, session},
    table::{Goal, Row, Table},
};
use anyhow::{Context, Result, ensure};
use cairn_abi::session::RunnerMode;
use cairn_executor::{BufferEnd, Session, SessionConfig, WantedCounters, Wants};
use cairn_model::Input;
use cairn_targets::{Built, Cache, Flavour, find};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Who is measured.
pub const ALL: &[&str] = &["tiny", "cjson"];

/// Buffers handed over at once.
const BATCH: usize = 64;

/// Measures a harness, against each of the two.
///
/// Where it has samples it also runs inputs that libFuzzer makes from them: that is what fuzzers run most of the time, and
/// many of them end sooner.
pub fn run(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let target = find(name)?;
    let fuzzer = LibFuzzer {
        program: target.executable(cache, Flavour::InTurn)?,
        corpus: cache.folder.join("results/libfuzzer"),
    };
    let harness = Harness {
        afl: target.executable(cache, Flavour::Afl)?,
        built: target.build(cache)?,
        name: target.program_name,
        fuzzer,
    };
    let samples = samples(&target.record(cache)?.folder)?;
    let _pinned = Pinned::to_one_core()?;
    if samples.is_empty() {
        return harness.measure(cache, name, &anything(), table);
    }
    harness.measure(cache, name, &samples, table)?;
    let made = harness.fuzzer.make(&samples)?;
    harness.measure(cache, &format!("{name} on inputs made from samples"), &made, table)
}

/// A harness as each side builds it.
struct Harness {
    built: Built,
    name: &'static str,
    afl: PathBuf,
    fuzzer: LibFuzzer,
}

impl Harness {
    /// All run the same buffers in turn.
    fn measure(&self, cache: &Cache, what: &str, buffers: &[Vec<u8>], table: &mut Table) -> Result<()> {
        let config =
            SessionConfig { mode: RunnerMode::Persistent, max_batch: BATCH, ..SessionConfig::default() };
        let mut session = session(&self.built, self.name, config)?;
        let built = &self.built;
        let our_command =
            format!("session of {} (persistent, sandbox full, batches of {BATCH})", built.plain.display());
        check_counted(&mut session, buffers)?;
        let mut client = Client::start(&self.afl, &[], Delivery::SharedMemory)?;
        check_peer(&mut client, buffers)?;
        let pair = Pair::measure(
            || rate(|| run_ours(&mut session, buffers)),
            || {
                rate(|| {
                    for buffer in buffers {
                        client.run(buffer)?;
                    }
                    Ok(buffers.len())
                })
            },
        )?;
        check_peer(&mut client, buffers)?;
        check_counted(&mut session, buffers)?;
        check_live(&session)?;
        let mut notes = vec![about(buffers)];
        notes.extend(about_afl(built.n_counters, &client)?);
        notes.push(how_they_ran(&session));
        drop(client);
        let row = Row {
            what: format!("harness: {what}, AFL++ persistent"),
            our_command: our_command.clone(),
            peer_command: format!("AFL++ forkserver of {} (persistent, shared memory)", self.afl.display()),
            unit: "runs/s",
            pair,
            goal: Goal::AtLeast(2.0),
            notes,
        };
        table.add(cache, row)?;
        let n_runs = self.fuzzer.calibrate(buffers)?;
        let pair =
            Pair::measure(|| rate(|| run_ours(&mut session, buffers)), || self.fuzzer.rate(buffers, n_runs))?;
        check_counted(&mut session, buffers)?;
        check_live(&session)?;
        let row = Row {
            what: format!("harness: {what}, libFuzzer"),
            our_command,
            peer_command: self.fuzzer.command(buffers, n_runs),
            unit: "runs/s",
            pair,
            goal: Goal::AtLeast(0.9),
            notes: vec![
                about(buffers),
                "libFuzzer is handed the buffers in turn and changes nothing, which saves it time".into(),
                how_they_ran(&session),
            ],
        };
        table.add(cache, row)
    }
}

fn about(buffers: &[Vec<u8>]) -> String {
    let size: usize = buffers.iter().map(Vec::len).sum();
    let n = buffers.len();
    format!("both run the same {n} buffers, of {} bytes on average", size / n.max(1))
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

/// A target's samples.
fn samples(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths.iter().map(fs::read).collect::<Result<_, _>>()?)
}

/// A few dozen bytes of this and that, some hundred times.
fn anything() -> Vec<Vec<u8>> {
    let mut random = Random(3);
    let mut buffer = || {
        let length = 1 + random.below(64);
        (0..length).map(|_| random.next() as u8).collect()
    };
    (0..4 * BATCH).map(|_| buffer()).collect()
}
