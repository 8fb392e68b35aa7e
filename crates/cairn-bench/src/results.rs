//! Figures in files, each row with when, on what and of which sources it was measured.

use anyhow::{Context, Result};
use cairn_targets::Cache;
use serde_json::{Value, json};
use std::{fs, path::PathBuf, process::Command};

/// Where the results of a benchmark are.
pub fn path(cache: &Cache, benchmark: &str) -> PathBuf {
    cache.folder.join("results").join(format!("{benchmark}.json"))
}

/// Adds rows to a file. One that it has already, by `name`, is replaced; the others stay.
pub fn merge(cache: &Cache, benchmark: &str, rows: Vec<Value>) -> Result<()> {
    let path = path(cache, benchmark);
    fs::create_dir_all(cache.folder.join("results"))?;
    let before = match fs::read(&path) {
        // Rows of another form are of no use to anybody, and must not keep new ones from being kept.
        Ok(text) => serde_json::from_slice::<Value>(&text).unwrap_or_default(),
        Err(_) => Value::Null,
    };
    let before = before["rows"].as_array().cloned().unwrap_or_default();
    let rows = merged(before, rows, &measured(cache));
    fs::write(&path, serde_json::to_string_pretty(&json!({ "version": 1, "rows": rows }))?)
        .with_context(|| format!("failed to write `{}`", path.display()))
}

fn merged(mut rows: Vec<Value>, new: Vec<Value>, measured: &Value) -> Vec<Value> {
    rows.retain(|row| row["name"].is_string());
    for mut row in new {
        row["measured"] = measured.clone();
        match rows.iter_mut().find(|old| old["name"] == row["name"]) {
            Some(old) => *old = row,
            None => rows.push(row),
        }
    }
    rows
}

/// When, on what machine, and of which sources; `null` for what cannot be known here.
fn measured(cache: &Cache) -> Value {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let repository = cache.repository.to_string_lossy();
    json!({
        "date": answer("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]),
        // With `-dirty` where the sources are not those of the commit.
        "commit": answer("git", &["--no-optional-locks", "-C", &repository, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]),
        "cpu": cpu.map(|(_, model)| model),
    })
}

/// What a command prints, if it succeeds.
fn answer(command: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(command).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_measured_again_takes_its_place_and_others_stay() {
        let row = |name: &str, ratio: f64| json!({ "name": name, "ratio": ratio });
        let first = merged(Vec::new(), vec![row("sort", 1.0), row("grep", 2.0)], &json!("monday"));
        let second = merged(first, vec![row("sort", 3.0), row("sed", 4.0)], &json!("tuesday"));
        let shown: Vec<String> = second
            .iter()
            .map(|row| format!("{} {} {}", row["name"], row["ratio"], row["measured"]))
            .collect();
        assert_eq!(shown, ["\"sort\" 3.0 \"tuesday\"", "\"grep\" 2.0 \"monday\"", "\"sed\" 4.0 \"tuesday\""]);
    }
}
