//! What a second worker adds.

use crate::{
    measure::Pair,
    table::{Goal, Row, Table},
};
use anyhow::{Context, Result, ensure};
use cairn_targets::{Cache, find};
use serde_json::Value;
use std::process::{Command, Stdio};

/// Who is fuzzed.
pub const ALL: &[&str] = &["cjson", "sort"];

/// How long each campaign is.
const SECONDS: u64 = 15;

/// Inputs tried by campaigns with two workers and with one.
pub fn run(cache: &Cache, name: &str, table: &mut Table) -> Result<()> {
    let target = find(name)?;
    let built = target.build(cache)?;
    let inputs = target.record(cache)?.folder;
    let output = cache.folder.join("results/workers").join(name);
    let words = |n_workers: u32, seconds: u64| {
        let mut words =
            vec!["run".into(), format!("./{}", target.program_name), inputs.display().to_string()];
        words.extend(["-o".into(), output.display().to_string(), "--json".into()]);
        words.extend(["--for".into(), format!("{seconds}s"), "--workers".into(), n_workers.to_string()]);
        words
    };
    let n_tried = |n_workers, seconds| -> Result<f64> {
        let _ = std::fs::remove_dir_all(&output);
        let mut command = Command::new(cache.tools.join("cairn"));
        command.current_dir(&built.folder).args(words(n_workers, seconds)).stdin(Stdio::null());
        let done = command.output().context("failed to start `cairn`")?;
        let text = String::from_utf8_lossy(&done.stdout);
        ensure!(done.status.code().is_some(), "`cairn run` was ended by a signal");
        let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let n_inputs = events.filter_map(|event| event["n_inputs"].as_f64()).next_back();
        n_inputs.with_context(|| {
            format!("`cairn run` told of no inputs: {}", String::from_utf8_lossy(&done.stderr))
        })
    };
    // Builds the views that are missing.
    n_tried(1, 1)?;
    let pair = Pair::measure(|| n_tried(2, SECONDS), || n_tried(1, SECONDS))?;
    let row = Row {
        what: format!("two workers against one: {name}"),
        our_command: format!("cairn {}", words(2, SECONDS).join(" ")),
        peer_command: format!("cairn {}", words(1, SECONDS).join(" ")),
        unit: "inputs",
        pair,
        goal: Goal::AtLeast(1.8),
        notes: vec!["inputs tried in the same time on the clock".into()],
    };
    table.add(cache, row)
}
