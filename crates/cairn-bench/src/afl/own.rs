//! What `afl-fuzz` itself reports, so that our client can be believed.

use anyhow::{Context, Result};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Which clang AFL++'s compiler calls, as it says itself.
pub fn compiler() -> Result<String> {
    let output = Command::new("afl-clang-fast").arg("--version").output();
    let output =
        output.context("failed to start `afl-clang-fast`\n\nhint: install the Debian package `afl++`")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.contains("clang version"));
    Ok(line.context("`afl-clang-fast --version` names no clang")?.trim().to_string())
}

/// Fuzzes for some seconds and returns the executions per second that `afl-fuzz` reports.
pub fn afl_fuzz_rate(
    folder: &Path,
    seeds: &[Vec<u8>],
    program: &Path,
    words: &[&str],
    seconds: u32,
) -> Result<f64> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let inputs = folder.join("in");
    fs::create_dir_all(&inputs)?;
    for (index, seed) in seeds.iter().enumerate() {
        fs::write(inputs.join(format!("{index:03}")), seed)?;
    }
    let log = fs::File::create(folder.join("log"))?;
    Command::new("afl-fuzz")
        .arg("-i")
        .arg(&inputs)
        .arg("-o")
        .arg(folder.join("out"))
        .args(["-V", &seconds.to_string(), "-s", "1", "--"])
        .arg(program)
        .args(words)
        .env("LC_ALL", "C")
        // It would otherwise ask for changes to the machine, or look for a core nobody uses.
        .envs([
            ("AFL_SKIP_CPUFREQ", "1"),
            ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1"),
            ("AFL_NO_UI", "1"),
            ("AFL_NO_AFFINITY", "1"),
        ])
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .status()
        .context("failed to start `afl-fuzz`\n\nhint: install the Debian package `afl++`")?;
    let stats = fs::read_to_string(folder.join("out/default/fuzzer_stats"))
        .with_context(|| format!("afl-fuzz left no figures; see `{}`", folder.join("log").display()))?;
    let line = stats.lines().find(|line| line.starts_with("execs_per_sec"));
    let rate = line.and_then(|line| line.split(':').nth(1)?.trim().parse().ok());
    rate.context("`fuzzer_stats` has no `execs_per_sec`")
}
