//! Whole programs: runs per second with a file argument, against AFL++'s own build under its forkserver.

use crate::{
    afl::{Client, Delivery, afl_fuzz_rate},
    measure::{Pair, Pinned, short},
    random::texts,
    speed::{NOVELTY, about_afl, add_to_baseline, check_live, file_inputs, how_they_ran, rate, session},
    table::{Goal, Row, Table},
};
use anyhow::{Result, ensure};
use cairn_executor::{Session, SessionConfig, Wants};
use cairn_model::{Input, outcome::Ending};
use cairn_targets::{Cache, Flavour, find};
use std::path::Path;

/// Who is measured. `grep-word` is `grep` with a pattern that takes no time to compile.
pub const ALL: &[&str] = &["sort", "grep", "grep-word"];

/// Design §13: at least this many times the runs of a forkserver.
const GOAL: Goal = Goal::AtLeast(5.0);

/// Measures a program.
pub fn run(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let (target, words): (_, &[&str]) = match name {
        "sort" => ("sort", &["input"]),
        "grep" => ("grep", &["-E", "(foo|bar)+ [0-9]|x$", "input"]),
        "grep-word" => ("grep", &["foo", "input"]),
        unknown => anyhow::bail!("`{unknown}` is not measured here; try {}", ALL.join(", ")),
    };
    let target = find(target)?;
    let theirs = target.executable(cache, Flavour::Afl)?;
    let built = target.build(cache)?;
    let _pinned = Pinned::to_one_core()?;
    let texts = texts(7, 64);
    // In memory, which is kinder to the peer than a disk.
    let file = Path::new("/dev/shm").join(format!("cairn-bench-{}", std::process::id()));
    let their_words: Vec<String> = words
        .iter()
        .map(|word| if *word == "input" { file.display().to_string() } else { word.to_string() })
        .collect();
    let mut client = Client::start(&theirs, &their_words, Delivery::File(file.clone()))?;
    let mut session = session(&built, target.program_name, SessionConfig::default())?;
    let inputs = file_inputs(words, &texts);
    check_work(&mut session, &inputs, &mut client, &texts)?;
    let mut ours = |wants| rate(|| run_ours(&mut session, &inputs, wants));
    let pair = Pair::measure(
        || ours(NOVELTY),
        || {
            rate(|| {
                for text in &texts {
                    client.run(text)?;
                }
                Ok(texts.len())
            })
        },
    )?;
    let everything = ours(Wants::EVERYTHING)?;
    check_work(&mut session, &inputs, &mut client, &texts)?;
    check_live(&session)?;
    let mut notes = about_afl(built.n_counters, &client)?;
    drop(client);
    let shown: Vec<&str> = words.iter().map(|word| if *word == "input" { "@@" } else { word }).collect();
    let their_rate = afl_fuzz_rate(&cache.folder.join("results/afl-fuzz"), &texts[..8], &theirs, &shown, 10)?;
    notes.extend([
        format!("ours with all output and counters kept: {} runs/s", short(everything)),
        format!("afl-fuzz itself reports {} runs/s on inputs of its own", short(their_rate)),
        how_they_ran(&session),
    ]);
    let row = Row {
        what: format!("whole program: {name}"),
        our_command: format!(
            "session of {} {} (snapshot, sandbox full, LC_ALL=C, batches of 64)",
            built.plain.display(),
            words.join(" ")
        ),
        peer_command: format!(
            "AFL++ forkserver of {} {} (LC_ALL=C, file in memory)",
            theirs.display(),
            shown.join(" ")
        ),
        unit: "runs/s",
        pair,
        goal: GOAL,
        notes,
    };
    table.add(cache, row)
}

/// Fails unless both sides do the work: a rate of runs that did nothing would be a fine one.
///
/// Each text ends both programs with the same exit code, leaves in the session the counters that it leaves in a fresh
/// process, and leaves something in AFL's map.
fn check_work(session: &mut Session, inputs: &[Input], client: &mut Client, texts: &[Vec<u8>]) -> Result<()> {
    for (input, text) in inputs.iter().zip(texts) {
        let fresh = session.run_fresh(input)?;
        let run = session.run(input)?.execution;
        ensure!(run.counters == fresh.counters, "a run in the session is not counted as a fresh one is");
        ensure!(run.counters.iter().any(|counter| *counter > 0), "a run of ours hit no counter");
        let (status, _) = client.run(text)?;
        ensure!(client.n_hit() > 0, "a run of AFL++'s build left nothing in its map");
        let theirs = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        let ours = match run.outcome.ending {
            Ending::Exited { code } => Some(i32::from(code)),
            _ => None,
        };
        ensure!(
            ours.is_some() && ours == theirs,
            "the same text ends ours with {:?} and AFL++'s build with wait status {status}",
            run.outcome.ending
        );
    }
    Ok(())
}

fn run_ours(session: &mut Session, inputs: &[Input], wants: Wants) -> Result<usize> {
    for run in session.run_batch(inputs, wants)? {
        if run.n_new > 0 {
            add_to_baseline(session.baseline(), &run.execution.counters);
        }
    }
    Ok(inputs.len())
}
