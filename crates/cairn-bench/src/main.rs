//! Measures Cairn on real programs against independent tools.
//!
//! ```console
//! $ bench/run                       # everything
//! $ bench/run truth grep            # coverage of grep against gcov and clang
//! $ bench/run builds sed            # stock build of sed
//! $ bench/run checks grep           # its own test suite on our executable and on the plain view
//! $ bench/run plain                 # what counters cost, against clang -O2
//! $ bench/run program-speed sort    # runs per second, against AFL++'s forkserver
//! $ bench/run harness-speed         # runs per second, against AFL++ persistent and libFuzzer
//! $ bench/run equality find         # runs in a session against runs in fresh processes
//! ```
//!
//! The programs are those of `cairn-targets`; figures are also written to `results/` in its cache.

mod afl;
mod builds;
mod cases;
mod checks;
mod equality;
mod generate;
mod harness_speed;
mod measure;
mod plain;
mod program_speed;
mod random;
mod speed;
mod table;
mod tools;
mod truth;

use anyhow::{Context, Result, bail, ensure};
use cairn_targets::Cache;
use table::Table;

/// All benchmarks, in the order in which `bench/run` runs them.
const ALL: &[&str] = &["builds", "truth", "checks", "plain", "program-speed", "harness-speed", "equality"];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let cache = tools::open()?;
    if let Some((what, names)) = words.split_first() {
        return run(&cache, what, names);
    }
    let mut failed = Vec::new();
    for what in ALL {
        println!("## {what}\n");
        if let Err(error) = run(&cache, what, &[]) {
            failed.push(format!("{what}: {error:#}"));
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

fn run(cache: &Cache, what: &str, names: &[String]) -> Result<()> {
    let wanted = |all: &[&'static str]| -> Vec<String> {
        if names.is_empty() { all.iter().map(|name| name.to_string()).collect() } else { names.to_vec() }
    };
    match what {
        "builds" => builds::run(cache, &wanted(builds::ALL)),
        "checks" => checks::run(cache, &wanted(checks::ALL)),
        "truth" => truth::run(cache, &wanted(truth::ALL)),
        "plain" => compared(cache, what, |table| plain::run(cache, &wanted(plain::ALL), table)),
        "program-speed" => {
            compared(cache, what, |table| program_speed::run(cache, &wanted(program_speed::ALL), table))
        }
        "harness-speed" => {
            compared(cache, what, |table| harness_speed::run(cache, &wanted(harness_speed::ALL), table))
        }
        "equality" => equality::run(cache, &wanted(equality::ALL)),
        unknown => bail!("there is no benchmark `{unknown}`; there are {}", ALL.join(", ")),
    }
}

/// Fills a table on one core; what was measured before a failure is kept.
fn compared(cache: &Cache, name: &str, rows: impl FnOnce(&mut Table) -> Result<()>) -> Result<()> {
    let mut table = Table::start();
    let outcome = rows(&mut table);
    table.finish(cache, name)?;
    outcome.with_context(|| format!("`{name}`"))
}
