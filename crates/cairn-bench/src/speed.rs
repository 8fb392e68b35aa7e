//! Runs per second: a number of inputs again and again for a while.

use crate::afl::{Client, compiler};
use anyhow::{Result, ensure};
use cairn_executor::{RunConfig, Session, SessionConfig, SessionMode, Target, WantedCounters, Wants};
use cairn_model::{
    Input,
    input::{FileKind, FileRegion},
};
use cairn_targets::Built;
use std::time::{Duration, Instant};

/// How long one repeat lasts.
pub const LASTS: Duration = Duration::from_secs(3);

/// Calls `round` until the time is over; it says how many runs it made. Runs per second of time on the wall.
pub fn rate(mut round: impl FnMut() -> Result<usize>) -> Result<f64> {
    let start = Instant::now();
    let mut n_runs = 0;
    while start.elapsed() < LASTS {
        n_runs += round()?;
    }
    Ok(n_runs as f64 / start.elapsed().as_secs_f64())
}

/// A live session of a target's plain view, sandbox on. Fails if the target cannot be run live: then there is
/// nothing to measure.
pub fn session(built: &Built, name: &str, config: SessionConfig) -> Result<Session> {
    let target = Target { program: built.plain.clone(), n_counters: built.n_counters };
    let run = RunConfig { program_name: Some(name.into()), ..config.run.clone() };
    let session = Session::new(target, SessionConfig { run, ..config })?;
    ensure!(
        matches!(session.mode(), SessionMode::Live(_)),
        "`{name}` runs in {} instead of a session",
        session.mode()
    );
    Ok(session)
}

/// How many of our runs were made in the session, and why the others were not: a rate of fresh processes is no rate
/// of a session.
pub fn how_they_ran(session: &Session) -> String {
    let counts = session.counts();
    let mut text = format!(
        "ours: {} runs in the session, {} in fresh processes",
        counts.n_live,
        counts.n_fresh_in_all()
    );
    for (why, n) in &counts.n_fresh {
        text.push_str(&format!("; {n} because {why}"));
    }
    if let SessionMode::Fresh { why } = session.mode() {
        text.push_str(&format!("; given up: {why}"));
    }
    text
}

/// Fails if the session was given up or more than one run in a hundred was made in a fresh process: the rate would be
/// that of something else.
pub fn check_live(session: &Session) -> Result<()> {
    let counts = session.counts();
    ensure!(
        matches!(session.mode(), SessionMode::Live(_)) && counts.n_live >= 99 * counts.n_fresh_in_all(),
        "this is no rate of a session; {}\n\nhint: `cargo xtask dist` and this program must come from the same sources",
        how_they_ran(session)
    );
    Ok(())
}

/// What AFL++ has to do with our figures, and what it has not: who reads a ratio should know.
pub fn about_afl(n_ours: u32, client: &Client) -> Result<Vec<String>> {
    Ok(vec![
        format!("AFL++'s build is made by its own compiler, {}; its output goes to /dev/null", compiler()?),
        format!(
            "ours keeps {n_ours} counters, those of the files in scope; AFL++'s map has {} entries, for edges of the whole program",
            client.n_counters()
        ),
    ])
}

/// Inputs that put each text into the file `input`, which the arguments name.
pub fn file_inputs(words: &[&str], texts: &[Vec<u8>]) -> Vec<Input> {
    let input = |text: &Vec<u8>| Input {
        args: words.iter().map(|word| (*word).into()).collect(),
        files: vec![FileRegion {
            path: "input".into(),
            kind: FileKind::Regular(text.clone().into()),
            mode: None,
            size: None,
            modified: None,
            accessed: None,
            owner: None,
        }],
        ..Input::default()
    };
    texts.iter().map(input).collect()
}

/// What a fuzzer asks of most runs: whether there is something new.
pub const NOVELTY: Wants = Wants { counters: WantedCounters::IfNew, output: false };

/// Adds the counters of a run to what was seen, in the classes of hit counts that AFL also uses.
pub fn add_to_baseline(baseline: &mut [u8], counters: &[u8]) {
    for (seen, counter) in baseline.iter_mut().zip(counters) {
        *seen |= cairn_abi::session::class(*counter);
    }
}
